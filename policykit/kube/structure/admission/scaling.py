"""Bounds between which KServe, Knative and KEDA scale."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from policykit.kube.structure.admission.values import Data, not_below, number, ordered, refused
from policykit.manifests.path import Path, lookup
from policykit.manifests.problem import Problem
from policykit.manifests.shape import digits

_LEAST = ("autoscaling.knative.dev/min-scale", "autoscaling.knative.dev/minScale")
_MOST = ("autoscaling.knative.dev/max-scale", "autoscaling.knative.dev/maxScale")
_ANNOTATIONS: Path = ("spec", "template", "metadata", "annotations")


def inference_service(data: Data) -> Iterator[Problem]:
    """Source: `ComponentExtensionSpec.Validate` (KServe v0.17); a maximum of 0 is none."""
    who = "KServe's webhook refuses it"
    for component in ("predictor", "transformer", "explainer"):
        base: Path = ("spec", component)
        there = lookup(data, base)
        if not isinstance(there, Mapping):
            continue
        if there.get("maxReplicas") != 0:
            yield from ordered(there, base, "minReplicas", "maxReplicas", who)
        for field in ("minReplicas", "maxReplicas", "containerConcurrency"):
            yield from not_below(there, base, field, 0, who)


def knative(data: Data) -> Iterator[Problem]:
    """Source: `ValidateAnnotations` of Knative's autoscaling (v1.20); a maximum of 0 is none."""
    annotations = lookup(data, _ANNOTATIONS)
    if not isinstance(annotations, Mapping):
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
    if not isinstance(spec, Mapping):
        return
    bounds = {"maxReplicaCount": 100, **spec}
    yield from ordered(bounds, ("spec",), "minReplicaCount", "maxReplicaCount", "KEDA refuses it")
    idle, least = number(spec.get("idleReplicaCount")), number(spec.get("minReplicaCount", 0))
    if idle is not None and least is not None and idle >= least:
        help_ = "write idleReplicaCount: 0 and minReplicaCount: 1 or more"
        yield refused(("spec", "idleReplicaCount"), f"is {idle}, not below minReplicaCount {least}", help_)
