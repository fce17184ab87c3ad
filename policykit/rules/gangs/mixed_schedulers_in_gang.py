"""Different schedulers place members of one gang.

A scheduler counts only the pods it places itself. Each of the two waits for members that the other
one places, so the gang never starts; and both consider the same nodes free.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial

from policykit.linter.rule import Context, Fix, Rule, Violation
from policykit.linter.scope import LocatedFact, Scope
from policykit.manifests.patch import Patch
from policykit.model.gang import GangScheduler
from policykit.model.severity import Applicability, Severity
from policykit.targets import DEFAULT_SCHEDULER, target_name_of, target_of

BAD = """\
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata:
  name: train
spec:
  minAvailable: 3
  tasks:
  - name: master
    replicas: 1
    template:
      spec:
        schedulerName: default-scheduler
        containers:
        - name: main
          image: registry.example/train:1
  - name: worker
    replicas: 2
    template:
      spec:
        schedulerName: volcano
        containers:
        - name: main
          image: registry.example/train:1
"""

GOOD = BAD.replace("schedulerName: default-scheduler", "schedulerName: volcano")

_Member = LocatedFact[GangScheduler]


def check(scope: Scope, context: Context) -> Iterator[Violation]:
    """Gangs that objects make of their own pods, and those that pods join by name."""
    gangs: dict[tuple[object, ...], list[_Member]] = {}
    for one in scope.of(GangScheduler):
        value = one.value
        location = (one.path, one.document) if not value.target_name else ()
        gangs.setdefault((value.target_name, value.namespace, value.group, *location), []).append(one)
    for members in gangs.values():
        yield from _mixed(members, context)


def _mixed(members: Sequence[_Member], context: Context) -> Iterator[Violation]:
    known = [one for one in members if not one.value.filled]
    wanted = _wanted(members, known, context)
    placed = {_placed_by(one, context) for one in known}
    if wanted is None or len(placed) < 2 or None in placed:
        return
    theirs = next(one for one in known if _placed_by(one, context) == target_name_of(wanted, context.cluster))
    for one in known:
        if _placed_by(one, context) == target_name_of(wanted, context.cluster):
            continue
        by = one.value.scheduler or f"{DEFAULT_SCHEDULER} (no schedulerName)"
        group = f"gang {one.value.group}" if one.value.target_name else "the same gang"
        yield Violation(
            one.at("scheduler"),
            f"{by} places {one.value.what}, but {wanted} places {_other_pods(theirs, one)} of {group}",
            f"write schedulerName: {wanted}",
            None if one.value.certain else Severity.WARNING,
            fix=partial(_fix, one, wanted),
        )


def _other_pods(theirs: _Member, one: _Member) -> str:
    return theirs.value.what if theirs.value.what != one.value.what else "other pods"


def _placed_by(one: _Member, context: Context) -> str | None:
    """The system; None: nobody knows."""
    return target_name_of(one.value.scheduler, context.cluster)


def _wanted(members: Sequence[_Member], known: Sequence[_Member], context: Context) -> str | None:
    """The schedulerName that all should have: of the system that reads the gang, else of most members."""
    target_name = members[0].value.target_name
    names = Counter(one.value.scheduler for one in known)
    for name, _ in names.most_common():
        served = target_name_of(name, context.cluster)
        target = target_of(served)
        if served == target_name if target_name else target is not None and target.supports_gangs:
            return name
    return None


def _fix(one: _Member, name: str) -> Fix | None:
    path = one.place("scheduler").path
    if not path or path[-1] != "schedulerName":
        return None
    return Fix(f"write schedulerName: {name}", (Patch("add", path, name),))


RULE = Rule(
    code="PK311",
    name="mixed-schedulers-in-gang",
    severity=Severity.ERROR,
    subject=Scope,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    reports_at=(GangScheduler,),
    fix=Applicability.UNSAFE,
)
