"""Admission of pods with nodeName: the kubelet admits or fails them, without a scheduler."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from policykit.kube import affinity, nodes, requests
from policykit.kube.names import is_extended
from policykit.kube.tolerations import read as read_tolerations
from policykit.kube.tolerations import untolerated
from policykit.model.pool import Amounts, Pool
from tests.kube.oracle import affinity_matches, name_of

_FIRST = ("cpu", "memory", "ephemeral-storage")


def refusal(
    spec: Mapping[str, Any],
    node: Pool,
    pods: Iterable[Mapping[str, Any]] = (),
    *,
    static: bool = False,
) -> str:
    """Why the kubelet of a one-node pool fails a pod bound to it, as in the pod's status; empty: it runs.

    `OutOf<resource>`, NodeAffinity or TaintToleration; ports and names are not judged. `pods`
    are the specs already there. NoSchedule taints and a cordon mean nothing here, and a
    static pod is spared the NoExecute taints too. Source: kubernetes `pkg/kubelet/lifecycle`
    (v1.36).
    """
    allocatable = node.shapes[0].allocatable
    if allocatable and (resource := _exhausted(allocatable, requests.effective(spec), pods)):
        return f"OutOf{resource}"
    if not affinity_matches(affinity.read(spec), nodes.labels_of(node), name_of(node)):
        return "NodeAffinity"
    evicting = [taint for taint in node.taints if taint.effect == "NoExecute"]
    if not static and untolerated(evicting, read_tolerations(spec.get("tolerations"))):
        return "TaintToleration"
    return ""


def _exhausted(allocatable: Amounts, asked: Amounts, pods: Iterable[Mapping[str, Any]]) -> str:
    """The first resource with too little free; empty: everything fits."""
    used: dict[str, int] = {"pods": 0}
    for pod in pods:
        used["pods"] += 1
        for resource, counted in requests.effective(pod).items():
            used[resource] = used.get(resource, 0) + counted
    if "pods" in allocatable and used["pods"] >= allocatable["pods"]:
        return "pods"
    for resource in (*_FIRST, *sorted(asked.keys() - set(_FIRST))):
        # Extended resources that the node does not know are ignored.
        unknown = resource not in allocatable and is_extended(resource)
        wanted = 0 if unknown else asked.get(resource, 0)
        if wanted and wanted > allocatable.get(resource, 0) - used.get(resource, 0):
            return resource
    return ""
