"""Objects that change the replicas of a workload: HorizontalPodAutoscaler, KEDA's ScaledObject."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policykit.manifests.document import Manifest
from policykit.manifests.path import Path, lookup
from policykit.manifests.shape import whole
from policykit.model.gang import Autoscaler

UNSCALABLE: Mapping[tuple[str, str], str] = {
    ("", "Pod"): "a Pod",
    ("apps", "DaemonSet"): "a DaemonSet",
    ("batch", "Job"): "a Job",
    ("batch", "CronJob"): "a CronJob",
    ("batch.volcano.sh", "Job"): "a Volcano Job",
    ("batch.volcano.sh", "CronJob"): "a Volcano CronJob",
}
"""(API group, kind) without a /scale subresource (Kubernetes 1.36, Volcano 1.15), in words."""

POD_PER_REPLICA = frozenset(
    {"CloneSet", "Deployment", "ReplicaSet", "ReplicationController", "Rollout", "StatefulSet"}
)
"""Kinds in which an autoscaler's maximum is a number of pods."""

_MAXIMUM: Mapping[str, Path] = {
    "HorizontalPodAutoscaler": ("spec", "maxReplicas"),
    "ScaledObject": ("spec", "maxReplicaCount"),
}
_KEDA_MAXIMUM = 100


def read(manifest: Manifest, namespace: str) -> Autoscaler | None:
    """The autoscaler in an object; None: not an autoscaler, or without a target."""
    if manifest.kind not in _MAXIMUM:
        return None
    if manifest.kind == "HorizontalPodAutoscaler" and manifest.group == "autoscaling":
        maximum = whole(lookup(manifest.data, _MAXIMUM[manifest.kind]))
        kind = ""
    elif manifest.kind == "ScaledObject" and manifest.group == "keda.sh":
        written: Any = lookup(manifest.data, _MAXIMUM[manifest.kind])
        maximum = _KEDA_MAXIMUM if written is None else whole(written)
        kind = "Deployment"
    else:
        return None
    target = lookup(manifest.data, ("spec", "scaleTargetRef"))
    if not isinstance(target, Mapping) or not isinstance(target.get("name"), str):
        return None
    kind = target["kind"] if isinstance(target.get("kind"), str) else kind
    return Autoscaler(manifest.namespace or namespace, kind, target["name"], maximum)


def places(manifest: Manifest) -> Mapping[str, Path]:
    """The locations of its fields; a maximum that is not written has none."""
    found: dict[str, Path] = {"name": ("spec", "scaleTargetRef", "name")}
    if lookup(manifest.data, _MAXIMUM[manifest.kind]) is not None:
        found["maximum"] = _MAXIMUM[manifest.kind]
    return found
