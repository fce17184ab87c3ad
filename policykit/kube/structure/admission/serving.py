"""Serving and autoscaling: KServe, Knative, KEDA."""

from __future__ import annotations

from collections.abc import Iterator

from policykit.kube.placeholders import is_filled_in
from policykit.kube.structure.admission.checks import Data, mappings, not_below, ordered, refused
from policykit.manifests.path import Path, lookup
from policykit.manifests.problem import Problem
from policykit.manifests.shape import digits, mapping, whole
from policykit.model.severity import Severity
from policykit.namedtuple import NamedTuple

_LEAST = ("autoscaling.knative.dev/min-scale", "autoscaling.knative.dev/minScale")
_MOST = ("autoscaling.knative.dev/max-scale", "autoscaling.knative.dev/maxScale")
_ANNOTATIONS: Path = ("spec", "template", "metadata", "annotations")


_KSERVE = "KServe's webhook refuses it"
_SCALER = "serving.kserve.io/autoscalerClass"
_SCALERS = ("hpa", "external", "keda", "none")
_MODE = "serving.kserve.io/deploymentMode"
_RAW, _KNATIVE = ("Standard", "RawDeployment"), ("Knative", "Serverless")
"""Deployment modes, and what earlier releases call them."""
_CLASS, _HPA = "autoscaling.knative.dev/class", "hpa.autoscaling.knative.dev"
_OF_HPA, _OF_KNATIVE = ("cpu", "memory"), ("concurrency", "rps")
"""What is measured for each autoscaler."""


def inference_service(data: Data) -> Iterator[Problem]:
    """Sources: `ComponentExtensionSpec.Validate`, `validateInferenceServiceAutoscaler` and
    `validateAutoScalingCompExtension` (KServe v0.17); a maximum of 0 is none."""
    who = _KSERVE
    annotations = mapping(lookup(data, ("metadata", "annotations")))
    scaler = annotations.get(_SCALER)
    if isinstance(scaler, str) and scaler not in _SCALERS and not is_filled_in(scaler):
        near = next((each for each in _SCALERS if each == scaler.lower()), "")
        yield refused(
            ("metadata", "annotations", _SCALER),
            f'is "{scaler}", which is no autoscaler of KServe: its webhook refuses that',
            f"write {near}" if near else f"known: {', '.join(_SCALERS)}",
        )
    measured = _measured(annotations)
    for component in ("predictor", "transformer", "explainer"):
        base: Path = ("spec", component)
        there = lookup(data, base)
        if not isinstance(there, dict):
            continue
        if there.get("scaleMetric") is not None and measured:
            yield from _metric(there["scaleMetric"], (*base, "scaleMetric"), measured)
        if there.get("maxReplicas") != 0:
            yield from ordered(there, base, "minReplicas", "maxReplicas", who)
        for field in ("minReplicas", "maxReplicas", "containerConcurrency"):
            yield from not_below(there, base, field, 0, who)
        share = whole(there.get("canaryTrafficPercent"))
        if share is not None and not 0 <= share <= 100:
            yield refused(
                (*base, "canaryTrafficPercent"), f"is {share}", "write 0 to 100: Knative refuses the route"
            )
        workers = there.get("workerSpec")
        if isinstance(workers, dict):
            for field in ("pipelineParallelSize", "tensorParallelSize"):
                yield from not_below(workers, (*base, "workerSpec"), field, 1, who)


class _Measured(NamedTuple):
    """What the autoscaler of an InferenceService takes as scaleMetric."""

    metrics: tuple[str, ...]
    by: str
    severity: Severity | None


def _measured(annotations: Data) -> _Measured | None:
    """None: KServe's own configuration decides. RawDeployment is judged in another way since 0.16."""
    mode, scaler, knative = (annotations.get(key) for key in (_MODE, _SCALER, _CLASS))
    severity = None if mode == _RAW[0] else Severity.WARNING
    if mode in _RAW and scaler == "hpa":
        return _Measured(_OF_HPA, "the HorizontalPodAutoscaler", severity)
    if mode in _RAW and scaler == "keda":
        return _Measured((), "KEDA", severity)
    if mode in _KNATIVE and knative == _HPA:
        return _Measured(_OF_HPA, _HPA, None)
    return _Measured(_OF_KNATIVE, "Knative's autoscaler", None) if mode in _KNATIVE and not knative else None


def _metric(metric: object, path: Path, measured: _Measured) -> Iterator[Problem]:
    if not isinstance(metric, str) or metric in measured.metrics or is_filled_in(metric):
        return
    known = " or ".join(measured.metrics)
    takes, help_ = (
        (f"takes {known}", f"write {known}") if known else ("reads autoScaling.metrics", "delete it")
    )
    yield refused(path, f"is {metric}, but {measured.by} {takes}", f"{help_}: {_KSERVE}", measured.severity)


def knative(data: Data) -> Iterator[Problem]:
    """Source: `ValidateAnnotations` of Knative's autoscaling (v1.20); a maximum of 0 is none."""
    annotations = lookup(data, _ANNOTATIONS)
    if not isinstance(annotations, dict):
        return
    low = next((key for key in _LEAST if key in annotations), "")
    high = next((key for key in _MOST if key in annotations), "")
    least, most = digits(annotations.get(low)), digits(annotations.get(high))
    if least is not None and most and least > most:
        help_ = "raise max-scale or lower min-scale: Knative's webhook refuses it"
        yield refused((*_ANNOTATIONS, low), f"is {least}, above {high} {most}", help_)


def keda(data: Data) -> Iterator[Problem]:
    """Source: `CheckReplicaCountBoundsAreValid` (KEDA v2.18): at most 100 where nothing is written."""
    spec = data.get("spec")
    if not isinstance(spec, dict):
        return
    bounds = {"maxReplicaCount": 100, **spec}
    yield from ordered(bounds, ("spec",), "minReplicaCount", "maxReplicaCount", "KEDA refuses it")
    idle, least = whole(spec.get("idleReplicaCount")), whole(spec.get("minReplicaCount", 0))
    if idle is not None and least is not None and idle >= least:
        help_ = "write idleReplicaCount: 0 and minReplicaCount: 1 or more"
        yield refused(("spec", "idleReplicaCount"), f"is {idle}, not below minReplicaCount {least}", help_)
    for position, trigger in mappings(spec.get("triggers")):
        for field in sorted(_OF_SPEC.intersection(mapping(trigger.get("metadata")))):
            path: Path = ("spec", "triggers", position, "metadata", field)
            what = f"is not read: {field} is a field of spec"
            yield refused(path, what, f"write it as spec.{field}", Severity.WARNING, key=True)


_OF_SPEC = frozenset(
    {
        "cooldownPeriod",
        "idleReplicaCount",
        "initialCooldownPeriod",
        "maxReplicaCount",
        "minReplicaCount",
        "pollingInterval",
    }
)
"""Fields of spec that no scaler has in its metadata."""
