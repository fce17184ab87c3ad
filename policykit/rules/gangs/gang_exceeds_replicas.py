"""A gang needs more members than it will ever have pods.

A gang starts only when all its members fit together. With too few pods it waits forever, and may hold its
share of the queue meanwhile; YuniKorn holds nodes for the missing ones until a timeout. The pods of
several objects count together if they name the same gang in the same namespace. Where they state several
sizes, that of the first pod that the scheduler sees counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from policykit.gates.gang_members import lacks, pods_text, raised, scalers_of
from policykit.kube.gang_units import size_patch
from policykit.linter.rule import Context, Fix, Rule, Violation
from policykit.linter.scope import LocatedFact, Scope
from policykit.model.gang import Membership, OwnGang, PodGroup
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


def check(scope: Scope, context: Context) -> Iterator[Violation]:
    """Gangs that objects declare for their own pods; named ones in a complete scope only."""
    scalers = scalers_of(scope)
    for gang in scope.gangs:
        value = gang.value
        pods = raised(value.pods, gang, value.namespace, scalers)
        parked = value.scalable and not pods
        if (
            pods is not None
            and pods < value.min_member
            and not parked
            and (scope.complete or not value.scalable)
        ):
            yield Violation(
                gang.at("min_member"),
                f"{value.what} needs {value.min_member} members but has {pods_text(pods, value.counted)}"
                + (f" to start with: {value.order}" if value.order else ""),
                f"raise the replicas to {value.min_member} in total, or lower the gang to {pods}",
                fix=partial(_fix, [gang], pods),
            )
    if scope.complete:
        yield from _named(scope)


def _named(scope: Scope) -> Iterator[Violation]:
    """Gangs that pods join by name."""
    for lack in lacks(scope):
        yield Violation(
            lack.declared.at("min_member"),
            lack.message,
            lack.help,
            None if lack.certain else Severity.WARNING,
            fix=partial(_fix, _same(lack.declared, lack.joined), lack.pods) if lack.certain else None,
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
    return Fix(f"lower the gang to {pods_text(pods)}", patches)


RULE = Rule(
    code="PK301",
    name="gang-exceeds-replicas",
    severity=Severity.ERROR,
    subject=Scope,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    reports_at=(Membership, OwnGang, PodGroup),
    fix=Applicability.UNSAFE,
)
