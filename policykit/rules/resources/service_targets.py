"""Services that send to a port by a name that no container of their pods gives one."""

from __future__ import annotations

from collections.abc import Iterator

from policykit.kube.placeholders import is_placeholder
from policykit.linter.rule import Violation
from policykit.linter.scope import LocatedFact, Scope
from policykit.model.queue import Demand
from policykit.model.references import NamedTarget
from policykit.nearest import some

_AS_WRITTEN = frozenset(
    {"DaemonSet", "Deployment", "Pod", "ReplicaSet", "ReplicationController", "StatefulSet"}
)
"""Kinds whose pods are what their template says; operators add ports."""


def named_targets(scope: Scope) -> Iterator[Violation]:
    """Source: `findPort` of the endpoint controllers (Kubernetes v1.36), which leave out pods without it."""
    targets = scope.of(NamedTarget)
    if not targets:
        return
    there: dict[tuple[str, tuple[str, str]], list[LocatedFact[Demand]]] = {}
    for pods in scope.of(Demand):
        place = pods.value.namespace if pods.value.stated_namespace else pods.path
        for label in pods.value.labels.items():
            there.setdefault((place, label), []).append(pods)
    for target in targets:
        wanted, place = target.value.selector.items(), target.value.namespace or target.path
        near = min((there.get((place, label), []) for label in wanted), key=len, default=[])
        found = [one for one in near if wanted <= one.value.labels.items()]
        if not found or target.partial or any(one.resource.kind not in _AS_WRITTEN for one in found):
            continue
        ports = frozenset[str]().union(*(one.value.ports for one in found))
        name = target.value.name
        if name in ports or any(map(is_placeholder, ports)):
            continue
        pod, named = found[0].resource, sorted(filter(None, ports))
        yield Violation(
            target.at("name"),
            f"no container of {pod.kind} {pod.name} has a port called {name}: the Service has no endpoint",
            f"the ports are {some(named)}"
            if named
            else "call a port of the container so, or write its number",
        )
