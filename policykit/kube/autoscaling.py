"""Objects that change the replicas of a workload: HorizontalPodAutoscaler, ScaledObject, PodAutoscaler."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policykit.kube.placeholders import is_placeholder
from policykit.manifests.document import Manifest
from policykit.manifests.path import Path, lookup
from policykit.manifests.shape import mapping, numbered, texts, whole
from policykit.model.gang import Autoscaler, VerticalScaler

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
    "PodAutoscaler": ("spec", "maxReplicas"),
    "ScaledObject": ("spec", "maxReplicaCount"),
}
_GROUPS = {"HorizontalPodAutoscaler": "autoscaling", "PodAutoscaler": "autoscaling.aibrix.ai"}
_KEDA_MAXIMUM = 100


def read(manifest: Manifest, namespace: str) -> Autoscaler | None:
    """The autoscaler in an object; None: not an autoscaler, or without a target of its own.

    AIBrix' subTargetSelector (`api/autoscaling/v1alpha1`, v0.5) takes a role of the target alone.
    """
    if manifest.kind not in _MAXIMUM:
        return None
    of_roles = lookup(manifest.data, ("spec", "subTargetSelector")) is not None
    if manifest.group == _GROUPS.get(manifest.kind) and not of_roles:
        maximum = whole(lookup(manifest.data, _MAXIMUM[manifest.kind]))
        kind = ""
    elif manifest.kind == "ScaledObject" and manifest.group == "keda.sh":
        written: Any = lookup(manifest.data, _MAXIMUM[manifest.kind])
        maximum = _KEDA_MAXIMUM if written is None else whole(written)
        kind = "Deployment"
    else:
        return None
    target = lookup(manifest.data, ("spec", "scaleTargetRef"))
    if not isinstance(target, dict) or not isinstance(target.get("name"), str):
        return None
    kind = target["kind"] if isinstance(target.get("kind"), str) else kind
    shares = tuple(_shares(manifest))
    return Autoscaler(
        manifest.namespace or namespace,
        kind,
        target["name"],
        maximum,
        shares,
        _taken(manifest),
        _least(manifest),
    )


def _least(manifest: Manifest) -> int | None:
    stated = mapping(manifest.data.get("spec"))
    written = stated.get("minReplicaCount" if manifest.kind == "ScaledObject" else "minReplicas")
    least = 1 if written is None else whole(written)
    return None if least is None else max(least, 1)


_TRANSFER: Path = ("metadata", "annotations", "scaledobject.keda.sh/transfer-hpa-ownership")
_OWN: Path = ("spec", "advanced", "horizontalPodAutoscalerConfig", "name")


def _taken(manifest: Manifest) -> str:
    """Source: `getHPAName` of KEDA, and its webhook's `verifyHpas` (v2.18)."""
    if manifest.kind != "ScaledObject" or lookup(manifest.data, _TRANSFER) != "true":
        return ""
    name = lookup(manifest.data, _OWN)
    return name if isinstance(name, str) else f"keda-hpa-{manifest.name}"


def places(manifest: Manifest) -> Mapping[str, Path]:
    """The locations of its fields; a maximum that is not written has none."""
    found: dict[str, Path] = {"name": ("spec", "scaleTargetRef", "name")}
    if lookup(manifest.data, _MAXIMUM[manifest.kind]) is not None:
        found["maximum"] = _MAXIMUM[manifest.kind]
    return {**found, **{f"share.{name}": place for name, place in _shares(manifest).items()}}


_RESOURCES = ("cpu", "memory")
_IDLE = ("Off", "Initial")


def read_vertical(manifest: Manifest, namespace: str) -> VerticalScaler | None:
    """A VerticalPodAutoscaler; None: not one that changes running pods, or without a target.

    Source: `UpdateMode` in `apis/autoscaling.k8s.io/v1` of the vertical pod autoscaler (1.4).
    """
    spec = mapping(manifest.data.get("spec"))
    target = mapping(spec.get("targetRef"))
    kind, name, mode = target.get("kind"), target.get("name"), lookup(spec, ("updatePolicy", "updateMode"))
    if not isinstance(kind, str) or not isinstance(name, str):
        return None
    if not (mode is None or isinstance(mode, str)) or mode in _IDLE or is_placeholder(mode):
        return None
    policies = [each for _, each in numbered(lookup(spec, ("resourcePolicy", "containerPolicies")))]
    changed = {each for policy in policies for each in texts(policy.get("controlledResources"))}
    if any(policy.get("mode") == "Off" for policy in policies):
        return None
    return VerticalScaler(manifest.namespace or namespace, kind, name, frozenset(changed or _RESOURCES))


_PERCENTAGE: Path = ("spec", "targetCPUUtilizationPercentage")


def _shares(manifest: Manifest) -> Mapping[str, Path]:
    """Resources that are measured by their utilization in all containers, and where.

    Sources: `replica_calculator.go` of the autoscaler (v1.36), `cpu_memory_scaler.go` of KEDA (v2.18).
    """
    found: dict[str, Path] = {}
    if manifest.kind == "ScaledObject":
        for position, trigger in numbered(lookup(manifest.data, ("spec", "triggers"))):
            kinds = (trigger.get("metricType"), lookup(trigger, ("metadata", "type")))
            if trigger.get("type") in _RESOURCES and "Utilization" in kinds and not _one_container(trigger):
                found[str(trigger["type"])] = ("spec", "triggers", position)
        return found
    if lookup(manifest.data, _PERCENTAGE) is not None:
        found["cpu"] = _PERCENTAGE
    for position, metric in numbered(lookup(manifest.data, ("spec", "metrics"))):
        target = mapping(lookup(metric, ("resource", "target"))) or mapping(metric.get("resource"))
        share = target.get("averageUtilization", target.get("targetAverageUtilization"))
        name = lookup(metric, ("resource", "name"))
        if metric.get("type") == "Resource" and name in _RESOURCES and share is not None:
            found[str(name)] = ("spec", "metrics", position)
    return found


def _one_container(trigger: Mapping[str, Any]) -> bool:
    return lookup(trigger, ("metadata", "containerName")) is not None
