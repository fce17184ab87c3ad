"""A gang of which one half is missing.

Pods that name a PodGroup which does not exist wait for it and never start. A PodGroup that no
pod joins does nothing: its workload starts pod by pod, each as soon as it fits.
"""

from __future__ import annotations

from collections.abc import Iterator

from policykit.kube.structure.scalars import is_placeholder
from policykit.linter.rule import Context, Rule
from policykit.linter.scope import Scope, ScopeViolation
from policykit.model.severity import Severity

BAD = """\
apiVersion: scheduling.volcano.sh/v1beta1
kind: PodGroup
metadata:
  name: train
spec:
  minMember: 1
"""

GOOD = """\
apiVersion: scheduling.volcano.sh/v1beta1
kind: PodGroup
metadata:
  name: train
spec:
  minMember: 1
---
apiVersion: v1
kind: Pod
metadata:
  name: train
  annotations:
    scheduling.k8s.io/group-name: train
spec:
  schedulerName: volcano
  containers:
  - name: main
    image: registry.example/train:1
"""


def check(scope: Scope, context: Context) -> Iterator[ScopeViolation]:
    """Groups nobody joins, and names of groups that are not there: only of a complete scope."""
    if not scope.complete:
        return
    joined = {(m.value.system, m.value.namespace, m.value.group) for m in scope.memberships}
    there = {(g.value.system, g.value.namespace, g.value.name) for g in scope.groups}
    for group in scope.groups:
        system, namespace, name = group.value.system, group.value.namespace, group.value.name
        if not name or is_placeholder(name) or group.value.owned:
            continue
        if (system, namespace, name) not in joined:
            yield ScopeViolation(
                group,
                "name",
                f"no pod joins PodGroup {name} in namespace {namespace}",
                _how_to_join(name, scope, namespace),
                Severity.WARNING,
            )
    for member in scope.memberships:
        value = member.value
        if value.by_pods or member.partial or is_placeholder(value.group):
            continue
        if (value.system, value.namespace, value.group) not in there:
            elsewhere = sorted(g.value.namespace for g in scope.groups if g.value.name == value.group)
            aside = f"; there is one in namespace {', '.join(elsewhere)}" if elsewhere else ""
            yield ScopeViolation(
                member,
                "group",
                f"names PodGroup {value.group}, which does not exist in namespace {value.namespace}{aside}",
                "add the PodGroup, or correct the name: without it the pods never start",
                Severity.ERROR,
            )


def _how_to_join(name: str, scope: Scope, namespace: str) -> str:
    elsewhere = sorted(
        {
            m.value.namespace
            for m in scope.memberships
            if m.value.group == name and m.value.namespace != namespace
        }
    )
    if elsewhere:
        return f"pods in namespace {', '.join(elsewhere)} name it, but a gang stays within one namespace"
    return "name it in the metadata of the pod template that should start together, or delete it"


RULE = Rule(
    code="PK306",
    name="gang-without-group",
    severity=Severity.WARNING,
    subject=Scope,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
)
