"""HorizontalPodAutoscalers (autoscaling/v2): written, read, and derived from workload kinds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policykit.manifests.shape import mapping, mappings, text, whole
from policykit.model.cluster import Cluster
from policykit.model.release import Version
from policykit.model.workload import Autoscaling, Metric, ScaleTarget, WorkloadKind
from policykit.namedtuple import NamedTuple
from policykit.placement.recognition import WORKLOAD_KEY
from policykit.targets.import_values import unread_fields
from policykit.targets.kubernetes.versions import SCALE_TO_ZERO

API_VERSION = "autoscaling/v2"
KIND = "HorizontalPodAutoscaler"
UNMETERED = (Metric("resource", "cpu", 80),)
"""The metric that Kubernetes uses by default."""


_DOWN: Mapping[str, Any] = {
    "selectPolicy": "Max",
    "policies": [{"type": "Percent", "value": 100, "periodSeconds": 15}],
}
_UP: Mapping[str, Any] = {
    "stabilizationWindowSeconds": 0,
    "selectPolicy": "Max",
    "policies": [
        {"type": "Pods", "value": 4, "periodSeconds": 15},
        {"type": "Percent", "value": 100, "periodSeconds": 15},
    ],
}
"""Defaults of the API server if any behaviour is stated."""


class Autoscaler(NamedTuple):
    """A HorizontalPodAutoscaler, in the namespace of the workload it scales."""

    name: str
    target: ScaleTarget
    maximum: int
    minimum: int = 1
    metrics: tuple[Metric, ...] = ()
    window: int | None = None
    """Seconds of lower load before replicas are removed; None: Kubernetes' default of 300."""
    workload: str = ""
    """Workload kind of the policy, from its label."""
    unread: tuple[str, ...] = ()
    """Fields of the object that this type does not have."""


def write(scaler: Autoscaler) -> dict[str, Any]:
    metadata: dict[str, Any] = {"name": scaler.name}
    if scaler.target.namespace:
        metadata["namespace"] = scaler.target.namespace
    if scaler.workload:
        metadata["labels"] = {WORKLOAD_KEY: scaler.workload}
    spec: dict[str, Any] = {
        "scaleTargetRef": {
            "apiVersion": scaler.target.api_version,
            "kind": scaler.target.kind,
            "name": scaler.target.name,
        },
        "minReplicas": scaler.minimum,
        "maxReplicas": scaler.maximum,
    }
    if scaler.metrics:
        spec["metrics"] = [_write_metric(metric) for metric in scaler.metrics]
    if scaler.window is not None:
        spec["behavior"] = {"scaleDown": {"stabilizationWindowSeconds": scaler.window}}
    return {"apiVersion": API_VERSION, "kind": KIND, "metadata": metadata, "spec": spec}


def _write_metric(metric: Metric) -> dict[str, Any]:
    target: dict[str, Any] = {"type": "AverageValue", "averageValue": metric.average}
    if metric.utilization is not None:
        target = {"type": "Utilization", "averageUtilization": metric.utilization}
    if metric.source == "resource":
        return {"type": "Resource", "resource": {"name": metric.name, "target": target}}
    return {
        "type": metric.source.capitalize(),
        metric.source: {"metric": {"name": metric.name}, "target": target},
    }


def read(data: Mapping[str, Any]) -> Autoscaler:
    """A HorizontalPodAutoscaler. Parts that this type cannot express are named in `unread`."""
    metadata, spec = mapping(data.get("metadata")), mapping(data.get("spec"))
    reference = mapping(spec.get("scaleTargetRef"))
    behavior = mapping(spec.get("behavior"))
    down, up = mapping(behavior.get("scaleDown")), mapping(behavior.get("scaleUp"))
    listed = mappings(spec.get("metrics"))
    metrics = [_read_metric(each) for each in listed]
    fewest = whole(spec.get("minReplicas"))
    known = ("scaleTargetRef", "minReplicas", "maxReplicas", "metrics", "behavior")
    unread = (
        *unread_fields(spec, known),
        *(
            f"metrics of type {text(each.get('type'))}"
            for each, m in zip(listed, metrics, strict=True)
            if not m
        ),
        *unread_fields(_stated(down, _DOWN), ("stabilizationWindowSeconds",), "behavior.scaleDown"),
        *unread_fields(_stated(up, _UP), (), "behavior.scaleUp"),
    )
    return Autoscaler(
        text(metadata.get("name")),
        ScaleTarget(
            text(reference.get("kind")),
            text(reference.get("name")),
            text(metadata.get("namespace")),
            text(reference.get("apiVersion")),
        ),
        whole(spec.get("maxReplicas")) or 0,
        1 if fewest is None else fewest,
        tuple(metric for metric in metrics if metric),
        whole(down.get("stabilizationWindowSeconds")),
        text(mapping(metadata.get("labels")).get(WORKLOAD_KEY)),
        unread,
    )


def _stated(rules: Mapping[str, Any], usual: Mapping[str, Any]) -> dict[str, Any]:
    """Rules that differ from the API server's defaults."""
    return {key: value for key, value in rules.items() if usual.get(key) != value}


def _read_metric(data: Mapping[str, Any]) -> Metric | None:
    """None for a metric that a policy cannot express."""
    source = text(data.get("type")).lower()
    if source not in ("resource", "pods", "external"):
        return None
    fields = mapping(data.get(source))
    target = mapping(fields.get("target"))
    named = fields if source == "resource" else mapping(fields.get("metric"))
    name, percent, average = (
        text(named.get("name")),
        whole(target.get("averageUtilization")),
        target.get("averageValue"),
    )
    if not name or named.get("selector") or (percent is None) == (average is None):
        return None
    return Metric(source, name, percent, "" if average is None else str(average))


LONGEST_WINDOW = 3600
"""Seconds; the API server refuses a longer stabilization window."""
_MEASURED = ("cpu", "memory")
"""Metrics of pods that metrics-server reports."""
_WITH_SCALE = frozenset({"Deployment", "StatefulSet", "ReplicaSet"})
_WITHOUT = frozenset({"Pod", "Job", "CronJob", "DaemonSet"})
_ADAPTERS = {
    "pods": ("custom.metrics.k8s.io", "prometheus-adapter"),
    "external": ("external.metrics.k8s.io", "prometheus-adapter or KEDA"),
}
"""Source of a metric to the API that must be served for it, and adapters that serve it."""


def autoscalers(cluster: Cluster, version: Version) -> tuple[list[Autoscaler], list[str]]:
    """The objects, in the policy's order, and notices about those omitted."""
    found: list[Autoscaler] = []
    notices: list[str] = []
    for kind in cluster.workloads.values():
        if kind.autoscaling:
            scalers = list(_kind_autoscalers(kind, kind.autoscaling))
            found += scalers
            notices += _notices(kind, kind.autoscaling, scalers, version)
    return _named_apart(found), notices


def _kind_autoscalers(kind: WorkloadKind, stated: Autoscaling) -> Iterator[Autoscaler]:
    metrics = tuple(metric for metric in stated.metrics if _measured(metric))
    if stated.metrics and not metrics:
        return
    window = None if stated.cooldown is None else min(stated.cooldown, LONGEST_WINDOW)
    for target in stated.targets:
        if _scalable(target):
            yield Autoscaler(
                target.name,
                target,
                stated.maximum,
                stated.minimum,
                metrics or UNMETERED,
                window,
                kind.name,
            )


def _measured(metric: Metric) -> bool:
    return metric.source != "resource" or metric.name in _MEASURED


def _scalable(target: ScaleTarget) -> bool:
    if target.api_version == "apps/v1":
        return target.kind in _WITH_SCALE
    volcanos = target.api_version.startswith("batch.volcano.sh/")
    return target.kind not in _WITHOUT and not volcanos


def _named_apart(scalers: list[Autoscaler]) -> list[Autoscaler]:
    """Adds the kind to names that two workloads of one namespace share."""
    names = [(each.target.namespace, each.name) for each in scalers]
    return [
        each._replace(name=f"{each.name}-{each.target.kind.lower()}") if names.count(name) > 1 else each
        for each, name in zip(scalers, names, strict=True)
    ]


def _notices(
    kind: WorkloadKind, stated: Autoscaling, scalers: list[Autoscaler], version: Version
) -> Iterator[str]:
    who = f"autoscaling of {kind.name}"
    if not stated.targets:
        yield f"{who} names no targets, so no autoscaler is written: add targets with kind and name"
    unmeasured = [metric.name for metric in stated.metrics if not _measured(metric)]
    if unmeasured:
        yield (
            f"{who}: metrics-server reports cpu and memory only, never {', '.join(unmeasured)}; omitted. "
            "Nearest: a metric of the pods (pods: DCGM_FI_DEV_GPU_UTIL) through a metrics adapter"
        )
    for target in stated.targets:
        if not _scalable(target):
            yield (
                f"{who}: {target.kind} {target.name} has no scale subresource, so no autoscaler is written"
            )
        elif target.api_version != "apps/v1":
            yield (
                f"{who}: {target.kind} {target.name} can be scaled only if its CustomResourceDefinition has "
                "a scale subresource"
            )
    if scalers:
        yield from _running(who, stated, version)


def _running(who: str, stated: Autoscaling, version: Version) -> Iterator[str]:
    """What else the autoscalers need to work."""
    for source, (api, adapters) in _ADAPTERS.items():
        names = ", ".join(metric.name for metric in stated.metrics if metric.source == source)
        if names:
            yield f"{who}: an adapter must serve {names} at {api}, for example {adapters}"
    if stated.minimum == 0 and version < SCALE_TO_ZERO:
        yield (
            f"{who}: min 0 is refused unless the feature gate HPAScaleToZero is on (alpha). Nearest: min 1, "
            "or KEDA"
        )
    if stated.cooldown is not None and stated.cooldown > LONGEST_WINDOW:
        yield (
            f"{who}: cooldown {stated.cooldown}s is more than {LONGEST_WINDOW}s, the longest there is; "
            f"{LONGEST_WINDOW}s is written"
        )
    yield f"{who}: take spec.replicas out of the manifests of its targets, or each apply undoes the scaling"
