"""Kueue's Workload, admission checks, and the objects of MultiKueue."""

from __future__ import annotations

import re
from collections.abc import Iterator

from policykit.kube.structure.admission.checks import (
    Data,
    alternatives,
    name_of,
    named_differently,
    ordered,
    refused,
    words,
)
from policykit.kube.structure.problem import INCONSISTENT
from policykit.manifests.path import Path, lookup
from policykit.manifests.problem import Problem
from policykit.manifests.shape import mapping, numbered
from policykit.model.severity import Severity
from policykit.nearest import nearest

_WHO = "Kueue's webhook refuses it"
_API = "the API server refuses it"
_SETS: Path = ("spec", "podSets")
_POD: Path = ("template", "spec")


def workload(data: Data) -> Iterator[Problem]:
    """Source: `ValidateWorkload` and the CRD's rules (0.9 to 0.19)."""
    sets = [*numbered(lookup(data, _SETS))]
    yield from named_differently(lookup(data, _SETS), _SETS, "name", "pod set")
    partial = [position for position, each in sets if each.get("minCount") is not None]
    if len(partial) > 1:
        where: Path = (*_SETS, partial[1], "minCount")
        what = "may be set for one pod set, and another has it"
        yield refused(where, what, f"delete one of the two: {_WHO}", key=True)
    for position, each in sets:
        yield from ordered(each, (*_SETS, position), "minCount", "count", _API)
        for number, container in numbered(lookup(each, (*_POD, "containers"))):
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


_PROVISIONING, _REMOTE = "kueue.x-k8s.io/provisioning-request", "kueue.x-k8s.io/multikueue"
_WANTED = {_PROVISIONING: "ProvisioningRequestConfig", _REMOTE: "MultiKueueConfig"}
_KIND = re.compile(r"[a-z](?:[-a-z0-9]*[a-z0-9])?\Z", re.IGNORECASE)
_INACTIVE = "the check is never active, and holds its queues"


def admission_check(data: Data) -> Iterator[Problem]:
    """Sources: the CRD AdmissionCheck, and the controllers that serve one (0.9 to 0.19)."""
    spec = mapping(data.get("spec"))
    path: Path = ("spec", "parameters")
    controller, given = spec.get("controllerName"), spec.get("parameters")
    if controller == "":
        what = "is empty"
        yield refused(("spec", "controllerName"), what, f"name the controller: {_API}", Severity.WARNING)
    wanted = _WANTED.get(str(controller), "")
    if wanted and given is None:
        what = f"has no parameters, but {controller} needs some"
        advice = f"name a {wanted}: {_INACTIVE}"
        yield refused(("spec",), what, advice, Severity.WARNING, kind=INCONSISTENT)
    kind = name_of(mapping(given), "kind")
    if kind and not _KIND.match(kind):
        yield refused(
            (*path, "kind"), f"is {kind}, the name of no kind", f"write {wanted or 'another'}: {_API}"
        )
    elif kind and wanted and kind != wanted:
        what = f"is {kind}, but {controller} reads a {wanted}"
        yield refused((*path, "kind"), what, f"write {wanted}: {_INACTIVE}", Severity.WARNING)


_CLASSES = (
    "check-capacity.autoscaling.x-k8s.io",
    "best-effort-atomic-scale-up.autoscaling.x-k8s.io",
    "queued-provisioning.gke.io",
)


def provisioning(data: Data) -> Iterator[Problem]:
    """A class that is nearly one of those of the autoscaler and of GKE: nothing serves the requests."""
    path: Path = ("spec", "provisioningClassName")
    stated = name_of(mapping(data.get("spec")), "provisioningClassName")
    near = nearest(stated, _CLASSES, 0.9) if stated and stated not in _CLASSES else ""
    if near:
        advice = f"did you mean {near}?"
        yield refused(path, f"is {stated}, which nothing serves", advice, Severity.WARNING)
