"""Kueue's Workload, and the objects of MultiKueue."""

from __future__ import annotations

from collections.abc import Iterator

from policykit.kube.structure.admission.checks import (
    Data,
    alternatives,
    mappings,
    named_differently,
    ordered,
    refused,
    words,
)
from policykit.kube.structure.problem import INCONSISTENT
from policykit.manifests.path import Path, lookup
from policykit.manifests.problem import Problem
from policykit.manifests.shape import mapping

_WHO = "Kueue's webhook refuses it"
_API = "the API server refuses it"
_SETS: Path = ("spec", "podSets")
_POD: Path = ("template", "spec")


def workload(data: Data) -> Iterator[Problem]:
    """Source: `ValidateWorkload` and the CRD's rules (0.9 to 0.19)."""
    sets = [*mappings(lookup(data, _SETS))]
    yield from named_differently(lookup(data, _SETS), _SETS, "name", "pod set")
    partial = [position for position, each in sets if each.get("minCount") is not None]
    if len(partial) > 1:
        where: Path = (*_SETS, partial[1], "minCount")
        what = "may be set for one pod set, and another has it"
        yield refused(where, what, f"delete one of the two: {_WHO}", key=True)
    for position, each in sets:
        yield from ordered(each, (*_SETS, position), "minCount", "count", _API)
        for number, container in mappings(lookup(each, (*_POD, "containers"))):
            for side in ("limits", "requests"):
                path: Path = ("resources", side, "pods")
                if lookup(container, path) is not None:
                    at = (*_SETS, position, *_POD, "containers", number, *path)
                    yield refused(at, "is counted by Kueue itself", f"delete it: {_WHO}", key=True)
    yield from _priority(mapping(data.get("spec")))


def _priority(spec: Data) -> Iterator[Problem]:
    for field in ("priorityClassName", "priorityClassRef"):
        if spec.get(field) and spec.get("priority") is None:
            advice = f"write the value of the class as priority: {_API}"
            yield refused(("spec", field), "needs priority beside it", advice, key=True, kind=INCONSISTENT)
    reference = mapping(spec.get("priorityClassRef"))
    group, kind = reference.get("group"), reference.get("kind")
    wanted = {"scheduling.k8s.io": "PriorityClass", "kueue.x-k8s.io": "WorkloadPriorityClass"}.get(str(group))
    if wanted and isinstance(kind, str) and kind != wanted:
        what = f"is {kind}, but the group is {group}"
        yield refused(("spec", "priorityClassRef", "kind"), what, f"write {wanted}: {_API}")


def clusters(data: Data) -> Iterator[Problem]:
    """Source: the rules of the CRD MultiKueueConfig (0.9 to 0.19)."""
    path: Path = ("spec", "clusters")
    seen: set[str] = set()
    for position, name in words(lookup(data, path)):
        if name in seen:
            yield refused((*path, position), f"is {name}, which is listed twice", f"list it once: {_API}")
        seen.add(name)


def cluster(data: Data) -> Iterator[Problem]:
    """Source: the rules of the CRD MultiKueueCluster (v1beta2, 0.15 to 0.19)."""
    path: Path = ("spec", "clusterSource")
    source = lookup(data, path)
    if isinstance(source, dict):
        yield from alternatives(source, path, ("kubeConfig", "clusterProfileRef"), _API, needed=True)
