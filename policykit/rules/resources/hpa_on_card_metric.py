"""A HorizontalPodAutoscaler can never scale its workload.

metrics-server measures only cpu and memory, so a Resource metric on a card never has a value. An
autoscaler also does nothing for a workload without a scale subresource, or with contradictory
bounds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policykit.kube.autoscaling import UNSCALABLE
from policykit.kube.placeholders import is_placeholder
from policykit.linter.rule import Context, Rule, Violation
from policykit.manifests.document import Manifest
from policykit.manifests.path import lookup
from policykit.model.severity import Severity

BAD = """\
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata:
  name: serve
spec:
  scaleTargetRef:
    apiVersion: apps/v1
    kind: Deployment
    name: serve
  minReplicas: 1
  maxReplicas: 4
  metrics:
  - type: Resource
    resource:
      name: nvidia.com/gpu
      target:
        type: Utilization
        averageUtilization: 80
"""

GOOD = """\
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata:
  name: serve
spec:
  scaleTargetRef:
    apiVersion: apps/v1
    kind: Deployment
    name: serve
  minReplicas: 1
  maxReplicas: 4
  metrics:
  - type: Pods
    pods:
      metric:
        name: DCGM_FI_DEV_GPU_UTIL
      target:
        type: AverageValue
        averageValue: "80"
"""

_MEASURED = ("cpu", "memory")
_OUTSIDE = ("Object", "External")
_BLOCKS = {"Resource": "resource", "ContainerResource": "containerResource"}


def check(manifest: Manifest, context: Context) -> Iterator[Violation]:
    """Checks metrics, target and bounds of autoscaling/v2 and its older versions."""
    if manifest.group != "autoscaling":
        return
    spec = manifest.data.get("spec")
    if isinstance(spec, dict):
        yield from _metrics(spec)
        yield from _target(spec)
        yield from _bounds(spec)


def _metrics(spec: Mapping[str, Any]) -> Iterator[Violation]:
    metrics = spec.get("metrics")
    for position, metric in enumerate(metrics if isinstance(metrics, list) else ()):
        if not isinstance(metric, dict):
            continue
        block = _BLOCKS.get(str(metric.get("type")), "")
        name = lookup(metric, (block, "name"))
        if isinstance(name, str) and name and name not in _MEASURED and not is_placeholder(name):
            yield Violation(
                ("spec", "metrics", position, block, "name"),
                f"{metric['type']} metric on {name} never has a value: only cpu and memory are measured",
                "use a Pods, Object or External metric from a metrics adapter, for example the card's "
                "utilisation from its exporter",
            )


def _target(spec: Mapping[str, Any]) -> Iterator[Violation]:
    target = spec.get("scaleTargetRef")
    if not isinstance(target, dict):
        return
    version, kind = target.get("apiVersion"), target.get("kind")
    if not isinstance(kind, str) or (version is not None and not isinstance(version, str)):
        return
    group, slash, _ = (version or "").partition("/")
    what = UNSCALABLE.get((group if slash else "", kind))
    if what:
        yield Violation(
            ("spec", "scaleTargetRef", "kind"),
            f"scaleTargetRef is {what} without a scale subresource",
            "refer to a Deployment, StatefulSet or another kind with a scale subresource",
        )


def _bounds(spec: Mapping[str, Any]) -> Iterator[Violation]:
    low, high = _number(spec.get("minReplicas")), _number(spec.get("maxReplicas"))
    if low is not None and high is not None and low > high:
        yield Violation(
            ("spec", "minReplicas"),
            f"minReplicas {low} is above maxReplicas {high}",
            "raise maxReplicas or lower minReplicas",
        )
    if low == 0 and not _measures_from_outside(spec):
        yield Violation(
            ("spec", "minReplicas"),
            "minReplicas is 0, which requires an Object or External metric",
            "write 1 or more: without pods the other metrics have no value",
        )


def _measures_from_outside(spec: Mapping[str, Any]) -> bool:
    metrics = spec.get("metrics")
    types = [m.get("type") for m in metrics if isinstance(m, dict)] if isinstance(metrics, list) else []
    return any(one in _OUTSIDE or is_placeholder(one) for one in types)


def _number(raw: object) -> int | None:
    return raw if isinstance(raw, int) and not isinstance(raw, bool) else None


RULE = Rule(
    code="PK208",
    name="hpa-on-card-metric",
    severity=Severity.ERROR,
    subject=Manifest,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    kinds=frozenset({"HorizontalPodAutoscaler"}),
)
