"""HorizontalPodAutoscaler: autoscaling/v2, written and read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from policykit.manifests.shape import mapping, mappings, text, whole
from policykit.model.workload import Metric, ScaleTarget
from policykit.placement.recognition import WORKLOAD_KEY
from policykit.targets.reading import unread_fields

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
"""What the API server fills in where any behaviour is stated."""


class Autoscaler(NamedTuple):
    """The object. Its namespace is that of the workload it scales."""

    name: str
    target: ScaleTarget
    maximum: int
    minimum: int = 1
    metrics: tuple[Metric, ...] = ()
    window: int | None = None
    """Seconds of lower load before replicas are removed; None: Kubernetes' own 300."""
    workload: str = ""
    """Workload kind of the policy that it belongs to, from its label."""
    unsaid: tuple[str, ...] = ()
    """Fields read that have no place here."""


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
    """What is of another shape is left out, and named in `unsaid`."""
    metadata, spec = mapping(data.get("metadata")), mapping(data.get("spec"))
    reference = mapping(spec.get("scaleTargetRef"))
    behavior = mapping(spec.get("behavior"))
    down, up = mapping(behavior.get("scaleDown")), mapping(behavior.get("scaleUp"))
    listed = mappings(spec.get("metrics"))
    metrics = [_read_metric(each) for each in listed]
    fewest = whole(spec.get("minReplicas"))
    known = ("scaleTargetRef", "minReplicas", "maxReplicas", "metrics", "behavior")
    unsaid = (
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
        unsaid,
    )


def _stated(rules: Mapping[str, Any], usual: Mapping[str, Any]) -> dict[str, Any]:
    """Rules that are not as the API server fills them in."""
    return {key: value for key, value in rules.items() if usual.get(key) != value}


def _read_metric(data: Mapping[str, Any]) -> Metric | None:
    """None for a metric that a policy has no words for."""
    source = text(data.get("type")).lower()
    if source not in ("resource", "pods", "external"):
        return None
    said = mapping(data.get(source))
    target = mapping(said.get("target"))
    named = said if source == "resource" else mapping(said.get("metric"))
    name, percent, average = (
        text(named.get("name")),
        whole(target.get("averageUtilization")),
        target.get("averageValue"),
    )
    if not name or named.get("selector") or (percent is None) == (average is None):
        return None
    return Metric(source, name, percent, "" if average is None else str(average))
