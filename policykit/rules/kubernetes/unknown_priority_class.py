"""Nothing defines the PriorityClass that pods name, or they state a number that it does not have.

The API server refuses pods that name a PriorityClass that does not exist, and those whose `priority` or
`preemptionPolicy` is not that of their class: it writes both itself. The rule compares names
with the policy and the PriorityClasses linted together; if neither has any, they are defined
elsewhere, and it reports nothing. A WorkloadPriorityClass of Kueue is not one. Names that begin with
`system-` are reserved for the two classes of Kubernetes itself: no other such class can exist.
"""

from __future__ import annotations

from collections.abc import Iterator

from policykit.kube.placeholders import is_placeholder
from policykit.linter.rule import Context, Rule, Violation
from policykit.linter.scope import Scope
from policykit.model.kueue import DeclaredPriorityClass
from policykit.model.queue import DeclaredPriority, PriorityUse
from policykit.model.severity import Severity
from policykit.nearest import Names, nearest

BAD = """\
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata:
  name: training-high
value: 100000
---
apiVersion: v1
kind: Pod
metadata:
  name: train
spec:
  priorityClassName: train-high
  containers:
  - name: main
    image: registry.example/train:1
"""

GOOD = BAD.replace("priorityClassName: train-high", "priorityClassName: training-high")

_RESERVED = "system-"
"""Source: `ValidatePriorityClass` in kubernetes `pkg/apis/scheduling/validation` (v1.36)."""
_EVERYWHERE = frozenset({"system-cluster-critical", "system-node-critical"})
_OF_CHARTS = frozenset({"koord-prod", "koord-mid", "koord-batch", "koord-free"}) | frozenset(
    {"train", "build", "build-preemptible", "inference"}
)
"""Installed by the charts of Koordinator and KAI."""


def check(scope: Scope, context: Context) -> Iterator[Violation]:
    """Only in a complete scope with at least one PriorityClass, or if others of the cluster may have one."""
    for use in scope.of(PriorityUse):
        name = use.value.name
        if name.startswith(_RESERVED) and name not in _EVERYWHERE and not is_placeholder(name):
            yield Violation(
                use.at("name"),
                f"there is no PriorityClass {name}: names with {_RESERVED} are reserved for "
                f"{' and '.join(sorted(_EVERYWHERE))}, so the API server refuses the pods",
                f"did you mean {nearest(name, sorted(_EVERYWHERE), 0.0)}?",
                Severity.ERROR,
            )
    if not scope.complete:
        return
    of_kueue = {each.value.name for each in scope.of(DeclaredPriorityClass)}
    stated = {each.name for each in context.cluster.priorities} if context.cluster else set[str]()
    there = stated | {each.value.name for each in scope.of(DeclaredPriority)}
    if any(is_placeholder(name) for name in there):
        return
    known = bool(there) or scope.is_part
    values: dict[str, set[int | None]] = {}
    policies: dict[str, set[str]] = {}
    for each in scope.of(DeclaredPriority):
        values.setdefault(each.value.name, set()).add(each.value.value)
        policies.setdefault(each.value.name, set()).add(each.value.policy)
    names = Names(there)
    listed = ", ".join(names.sorted[:8])
    for use in scope.of(PriorityUse) if known or of_kueue else ():
        name = use.value.name
        there_is = values.get(name, set())
        if use.value.value is not None and len(there_is) == 1 and not there_is & {None, use.value.value}:
            (value,) = there_is
            yield Violation(
                use.at("value"),
                f"priority is {use.value.value}, but PriorityClass {name} has {value}: "
                "the API server refuses the pods",
                "delete it: the class alone decides",
                Severity.ERROR,
            )
        having = policies.get(name, set())
        if use.value.policy and len(having) == 1 and not having & {"", use.value.policy}:
            (policy,) = having
            yield Violation(
                use.at("policy"),
                f"preemptionPolicy is {use.value.policy}, but PriorityClass {name} has {policy}: "
                "the API server refuses the pods",
                "delete it: the class alone decides",
                Severity.ERROR,
            )
        if name in of_kueue and name not in there:
            yield Violation(
                use.at("name"),
                f"{name} is a WorkloadPriorityClass of Kueue, not a PriorityClass: "
                "the API server refuses the pods",
                "name it in the label kueue.x-k8s.io/priority-class of the workload instead",
            )
            continue
        if not known or name.startswith(_RESERVED):
            continue
        if name in there or name in _EVERYWHERE or name in _OF_CHARTS or is_placeholder(name):
            continue
        near = names.nearest(name, 0.75)
        yield Violation(
            use.at("name"),
            f"PriorityClass {name} is defined neither here nor in the policy: "
            "without it the API server refuses the pods",
            f"did you mean {near}?" if near else f"add it{listed and f', or use one of {listed}'}",
        )


RULE = Rule(
    code="PK805",
    name="unknown-priority-class",
    severity=Severity.WARNING,
    subject=Scope,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    reports_at=(PriorityUse,),
)
