"""The API server refuses a PriorityClass.

Values above 1000000000 and names that start with system- are reserved for Kubernetes, and a cluster
may have only one default class. The value of a class never changes: a second object of its name is
refused if it has another. Pods that name a refused class are refused as well.
"""

from __future__ import annotations

from collections.abc import Iterator

from policykit.linter.rule import Context, Rule, Violation
from policykit.linter.scope import LocatedFact, Scope
from policykit.model.queue import DeclaredPriority
from policykit.model.severity import Severity

BAD = """\
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata:
  name: training
value: 2000000000
"""

GOOD = BAD.replace("2000000000", "100000")

HIGHEST = 1_000_000_000
LOWEST = -(2**31)
OWN = {"system-cluster-critical": 2_000_000_000, "system-node-critical": 2_000_001_000}
"""Classes that every cluster has, with their values."""


def check(scope: Scope, context: Context) -> Iterator[Violation]:
    """Each class by itself, then all defaults."""
    classes = scope.of(DeclaredPriority)
    for one in classes:
        yield from _values(one)
    yield from _defaults(classes)
    yield from _duplicates(classes)


def _values(one: LocatedFact[DeclaredPriority]) -> Iterator[Violation]:
    name, value = one.value.name, one.value.value
    if name in OWN:
        if value is not None and value != OWN[name]:
            yield Violation(
                one.at("value"),
                f"{name} has value {OWN[name]} in every cluster, but {value} here",
                "delete it",
            )
        return
    if name.startswith("system-"):
        yield Violation(
            one.at("name"),
            f"{name} starts with system-, which is reserved for Kubernetes",
            "choose another name",
        )
    if value is not None and value > HIGHEST:
        yield Violation(
            one.at("value"), f"value is {value}, but at most {HIGHEST} is allowed", f"write at most {HIGHEST}"
        )
    elif value is not None and value < LOWEST:
        yield Violation(
            one.at("value"),
            f"value is {value}, but at least {LOWEST} is required",
            f"write at least {LOWEST}",
        )


def _duplicates(classes: tuple[LocatedFact[DeclaredPriority], ...]) -> Iterator[Violation]:
    """Two values of one class in a file; in several files it may be that of several clusters.

    Source: `ValidatePriorityClassUpdate` (Kubernetes v1.36): a value never changes.
    """
    first: dict[tuple[str, str], LocatedFact[DeclaredPriority]] = {}
    for one in classes:
        name, value = one.value.name, one.value.value
        if value is None or not name or one.partial:
            continue
        before = first.setdefault((one.path, name), one).value.value
        if before != value:
            yield Violation(
                one.at("name"),
                f"{name} is declared twice, with the values {before} and {value}: the second is refused",
                "give one of them another name, or delete it",
            )


def _defaults(classes: tuple[LocatedFact[DeclaredPriority], ...]) -> Iterator[Violation]:
    """Copies of one class, a base and its overlay, are one."""
    first: LocatedFact[DeclaredPriority] | None = None
    for one in classes:
        if not one.value.default or one.value.name in OWN:
            continue
        if first is None:
            first = one
        elif one.value.name != first.value.name:
            yield Violation(
                one.at("default"),
                f"{first.value.name} and {one.value.name} both set globalDefault: "
                "a cluster has only one default",
                f"keep globalDefault in one of them ({first.value.name} is in {first.path})",
            )


RULE = Rule(
    code="PK804",
    name="invalid-priority-class",
    severity=Severity.ERROR,
    subject=Scope,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    reports_at=(DeclaredPriority,),
)
