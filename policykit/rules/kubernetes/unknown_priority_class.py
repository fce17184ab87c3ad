"""Nothing defines the PriorityClass that pods name.

The API server refuses pods that name a PriorityClass that does not exist. The rule compares names
with the policy and the PriorityClasses linted together; if neither has any, they are defined
elsewhere, and it reports nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

from policykit.kube.placeholders import is_placeholder
from policykit.linter.rule import Context, Rule, Violation
from policykit.linter.scope import Scope
from policykit.model.queue import DeclaredPriority, PriorityUse
from policykit.model.severity import Severity
from policykit.nearest import nearest

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

_EVERYWHERE = frozenset({"system-cluster-critical", "system-node-critical"})
_OF_CHARTS = frozenset({"koord-prod", "koord-mid", "koord-batch", "koord-free"}) | frozenset(
    {"train", "build", "build-preemptible", "inference"}
)
"""Installed by the charts of Koordinator and KAI."""


def check(scope: Scope, context: Context) -> Iterator[Violation]:
    """Only in a complete scope with at least one PriorityClass."""
    if not scope.complete:
        return
    stated = {each.name for each in context.cluster.priorities} if context.cluster else set[str]()
    there = stated | {each.value.name for each in scope.of(DeclaredPriority)}
    if not there or any(is_placeholder(name) for name in there):
        return
    for use in scope.of(PriorityUse):
        name = use.value.name
        if name in there or name in _EVERYWHERE or name in _OF_CHARTS or is_placeholder(name):
            continue
        near = nearest(name, tuple(sorted(there)), 0.75)
        listed = ", ".join(sorted(there)[:8])
        yield Violation(
            use.at("name"),
            f"PriorityClass {name} is defined neither here nor in the policy: "
            "without it the API server refuses the pods",
            f"did you mean {near}?" if near else f"add it, or use one of {listed}",
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
)
