"""Koordinator's classes of pods: each workload kind gets one that the webhook accepts."""

from __future__ import annotations

from policykit.kube.names import dns_label_problem
from policykit.manifests.path import Path
from policykit.policy.compile.draft import Draft
from policykit.policy.compile.known import all_known, known, once
from policykit.policy.models.targets.koordinator_colocation import Colocated, Colocation
from policykit.targets.koordinator.objects.colocation import BANDS, QOS, Band, band_of_priority_class
from policykit.targets.koordinator.options import PodClass


def classes(draft: Draft, path: Path, stated: Colocation) -> dict[str, PodClass]:
    """Workload kind to the class of its pods."""
    return {name: _class(draft, (*path, name), name, each) for name, each in stated.workloads.items()}


def _class(draft: Draft, path: Path, kind: str, stated: Colocated) -> PodClass:
    known(draft, path, "workload kind", kind)
    fitting = QOS[stated.priority]
    if stated.qos and stated.qos not in fitting:
        draft.problems.error(
            (*path, "qos"),
            f"QoS class {stated.qos} cannot be combined with priority {stated.priority}",
            f"write {' or '.join(fitting)}, or another priority",
        )
    _check_priority(draft, path, kind, next(band for band in BANDS if band.name == stated.priority))
    all_known(draft, (*path, "tenants"), "tenant", stated.tenants)
    for number, tenant in enumerate(stated.tenants):
        there = draft.policy.tenants.get(tenant)
        if there is not None and not there.namespaces:
            draft.problems.error((*path, "tenants", number), f"tenant {tenant} owns no namespace")
    for number, namespace in enumerate(stated.namespaces):
        draft.check((*path, "namespaces", number), f"namespace {namespace!r}", dns_label_problem(namespace))
    once(draft, (*path, "namespaces"), stated.namespaces)
    qos = stated.qos or fitting[0]
    return PodClass(stated.priority, qos, stated.order, stated.tenants, stated.namespaces)


def _check_priority(draft: Draft, path: Path, kind: str, band: Band) -> None:
    """The kind's own PriorityClass, if any, decides the class of its pods: its value must be in the band."""
    workload = draft.policy.workloads.get(kind)
    name = workload.priority_class if workload else ""
    if not name or band_of_priority_class(name) == band:
        return
    stated = draft.policy.priorities.get(name)
    value = stated.value if stated else None
    if value is not None and band.lowest <= value <= band.highest:
        return
    shown = f"{name} with value {value}" if value is not None else name
    draft.problems.error(
        path,
        f"workload kind {kind} has priorityClass {shown}, outside the range of {band.name}: "
        f"{band.lowest} to {band.highest}",
        "remove priorityClass there, or give it a value in that range",
        key=True,
    )
