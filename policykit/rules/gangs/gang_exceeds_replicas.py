"""A gang needs more members than it will ever have pods.

A gang starts only when all its members fit together. With too few pods it waits forever, and may
hold its share of the queue meanwhile.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from policykit.kube.autoscaling import POD_PER_REPLICA
from policykit.kube.gang_units import size_patch
from policykit.linter.rule import Context, Fix, Rule, Violation
from policykit.linter.scope import LocatedFact, Scope
from policykit.model.gang import Autoscaler, Membership, PodGroup
from policykit.model.severity import Applicability, Severity

BAD = """\
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata:
  name: train
spec:
  minAvailable: 4
  tasks:
  - name: worker
    replicas: 2
    template:
      spec:
        restartPolicy: Never
        containers:
        - name: main
          image: registry.example/train:1
"""

GOOD = BAD.replace("replicas: 2", "replicas: 4")

_Name = tuple[str, str, str]
"""(system, namespace, group) of a gang, or (namespace, kind, name) of a workload."""


def check(scope: Scope, context: Context) -> Iterator[Violation]:
    """Gangs that objects declare for their own pods; named ones in a complete scope only."""
    scalers = {(s.namespace, s.kind, s.name): s for s in (each.value for each in scope.autoscalers)}
    for gang in scope.gangs:
        value = gang.value
        pods = _raised(value.pods, gang, value.namespace, scalers)
        parked = value.scalable and not pods
        if (
            pods is not None
            and pods < value.min_member
            and not parked
            and (scope.complete or not value.scalable)
        ):
            yield Violation(
                gang.at("min_member"),
                f"{value.what} needs {value.min_member} members but has {_pods(pods, value.counted)}",
                f"raise the replicas to {value.min_member} in total, or lower the gang to {pods}",
                fix=partial(_fix, [gang], pods),
            )
    if scope.complete:
        yield from _named(scope, scalers)


def _named(scope: Scope, scalers: Mapping[_Name, Autoscaler]) -> Iterator[Violation]:
    """Gangs that pods join by name: the minimum of the group, else the one the pods state."""
    members: dict[_Name, list[LocatedFact[Membership]]] = {}
    for member in scope.memberships:
        members.setdefault(member.value[:3], []).append(member)
    groups: dict[_Name, list[LocatedFact[PodGroup]]] = {}
    for group in scope.groups:
        groups.setdefault(group.value[:3], []).append(group)
    for name, joined in members.items():
        if scope.may_hold(name[2]):
            continue
        declared = _declared(groups.get(name, []), joined)
        pods = _together(joined, scalers)
        minimum = declared.value.min_member if declared else None
        # Without any pod the workload is off, or scaled up from zero on demand.
        if declared and minimum is not None and pods and pods < minimum:
            yield Violation(
                declared.at("min_member"),
                f"gang {name[2]} needs {minimum} members but {_owners(joined)} {_has(joined)} {_pods(pods)}",
                f"{_raise(joined, pods, minimum)}, or lower the minimum to {pods}",
                fix=partial(_fix, _same(declared, joined), pods),
            )


def _same(declared: LocatedFact[Any], joined: Sequence[LocatedFact[Membership]]) -> list[LocatedFact[Any]]:
    """Everything that sets the minimum in place of a PodGroup: it is unknown which one counts."""
    if isinstance(declared.value, PodGroup):
        return [declared]
    return [member for member in joined if member.value.min_member is not None]


def _fix(stating: Sequence[LocatedFact[Any]], pods: int) -> Fix | None:
    """Lowers the minimum to the pods there are.

    None without pods, or where the minimum is set in several documents or within a longer text.
    """
    in_text = any(isinstance(one.value, Membership) and one.value.embedded for one in stating)
    if pods < 1 or in_text or len({(one.path, one.document) for one in stating}) > 1:
        return None
    patches = tuple(size_patch(one.place("min_member").path, pods) for one in stating)
    return Fix(f"lower the gang to {_pods(pods)}", patches)


def _declared(
    groups: Sequence[LocatedFact[PodGroup]], joined: list[LocatedFact[Membership]]
) -> LocatedFact[PodGroup] | LocatedFact[Membership] | None:
    """What sets the minimum; None where nothing does, or where two copies of a group might disagree."""
    if groups:
        return groups[0] if len(groups) == 1 else None
    if [m.resource.kind for m in joined] == ["Pod"]:
        return None  # one pod of several created one by one: the others come from elsewhere
    # The first pod seen sets the values, and it is unknown which one that is: take the smallest.
    stating = [m for m in joined if m.value.min_member is not None]
    return min(stating, key=lambda m: m.value.min_member or 0, default=None)


def _together(joined: Iterable[LocatedFact[Membership]], scalers: Mapping[_Name, Autoscaler]) -> int | None:
    """All pods of the members; one in two files (a base and its copy) counts once."""
    counted: dict[tuple[str, ...], dict[tuple[str, int], int]] = {}
    for member in joined:
        pods = _raised(member.value.pods, member, member.value.namespace, scalers)
        if pods is None:
            return None
        who = (member.resource.kind, member.resource.name, member.place("group").pointer)
        copies = counted.setdefault(who, {})
        # Templates of one object may take the group from one place: each has pods of its own.
        copies[member.path, member.document] = copies.get((member.path, member.document), 0) + pods
    return sum(max(copies.values()) for copies in counted.values())


def _raised(
    pods: int | None, where: LocatedFact[Any], namespace: str, scalers: Mapping[_Name, Autoscaler]
) -> int | None:
    """Pods of a workload, up to its autoscaler's maximum; None: unknown."""
    scaler = scalers.get((namespace, where.resource.kind, where.resource.name))
    if scaler is None or pods is None:
        return pods
    if scaler.maximum is None or where.resource.kind not in POD_PER_REPLICA:
        return None
    return max(pods, scaler.maximum)


def _owners(joined: Sequence[LocatedFact[Membership]]) -> str:
    names = list(dict.fromkeys(f"{m.resource.kind} {m.resource.name}" for m in joined))
    return " and ".join(names) if len(names) < 3 else f"its {len(names)} workloads"


def _has(joined: Sequence[LocatedFact[Membership]]) -> str:
    return "has" if len({(m.resource.kind, m.resource.name) for m in joined}) == 1 else "have"


def _raise(joined: Sequence[LocatedFact[Membership]], pods: int, minimum: int) -> str:
    """The first suggestion: more pods."""
    who = _owners(joined)
    if _has(joined) == "has" and joined[0].resource.kind in POD_PER_REPLICA:
        return f"raise replicas of {who} to {minimum}"
    return f"add {minimum - pods} more pods to it"


def _pods(number: int, counted: str = "pod") -> str:
    return f"1 {counted}" if number == 1 else f"{number} {counted}s"


RULE = Rule(
    code="PK301",
    name="gang-exceeds-replicas",
    severity=Severity.ERROR,
    subject=Scope,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    fix=Applicability.UNSAFE,
)
