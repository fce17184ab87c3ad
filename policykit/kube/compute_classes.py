"""The toleration that GKE gives pods that select a ComputeClass."""

from __future__ import annotations

from collections.abc import Iterable

from policykit.kube.podsets.podset import PodSet
from policykit.kube.tolerations import to_dict
from policykit.manifests.shape import mapping
from policykit.model.pool import Pool, Taint, Toleration

LABEL = "cloud.google.com/compute-class"
"""Also the key of the taint of the class's nodes."""


def admitted(pod_set: PodSet, pools: Iterable[Pool]) -> PodSet:
    """The pods with the toleration of the class that their nodeSelector names, if some pool has its taint.

    Source: GKE's documentation of ComputeClasses and of those of Autopilot.
    """
    spec = pod_set.spec
    name = mapping(spec.get("nodeSelector")).get(LABEL)
    if not isinstance(name, str):
        return pod_set
    taint = Taint(LABEL, name, "NoSchedule")
    if not any(taint in pool.taints for pool in pools):
        return pod_set
    listed = spec.get("tolerations")
    added = to_dict(Toleration(LABEL, "Equal", name, "NoSchedule"))
    own = listed if isinstance(listed, list) else []
    return pod_set._replace(spec={**spec, "tolerations": [*own, added]})
