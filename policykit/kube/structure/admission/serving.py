"""Serving: bounds of KServe, Knative and KEDA, and the groups of a LeaderWorkerSet."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from policykit.kube.structure.admission.checks import Data, not_below, ordered, refused
from policykit.manifests.path import Path, lookup
from policykit.manifests.problem import Problem
from policykit.manifests.shape import digits, whole

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
    idle, least = whole(spec.get("idleReplicaCount")), whole(spec.get("minReplicaCount", 0))
    if idle is not None and least is not None and idle >= least:
        help_ = "write idleReplicaCount: 0 and minReplicaCount: 1 or more"
        yield refused(("spec", "idleReplicaCount"), f"is {idle}, not below minReplicaCount {least}", help_)


_TEMPLATE: Path = ("spec", "leaderWorkerTemplate")
_UPDATE: Path = ("spec", "rolloutStrategy", "rollingUpdateConfiguration")


def leader_worker_set(data: Data) -> Iterator[Problem]:
    """Source: `generalValidate` of LeaderWorkerSet's webhook (v0.8)."""
    spec, template = data.get("spec"), lookup(data, _TEMPLATE)
    if not isinstance(spec, Mapping) or not isinstance(template, Mapping):
        return
    who = "LeaderWorkerSet's webhook refuses it"
    yield from not_below(spec, ("spec",), "replicas", 0, who)
    yield from not_below(template, _TEMPLATE, "size", 1, who)
    policy = template.get("subGroupPolicy")
    if isinstance(policy, Mapping):
        yield from _divided(policy, whole(template.get("size", 1)))
    update = lookup(data, _UPDATE)
    if isinstance(update, Mapping) and all(update.get(each) in (0, "0%") for each in _REPLACED):
        advice = "raise maxSurge or maxUnavailable"
        yield refused(_UPDATE, "allows neither an extra group nor a missing one", advice)


def _divided(policy: Data, size: int | None) -> Iterator[Problem]:
    """A subgroup takes an equal share of all pods, or of those without the leader."""
    path: Path = (*_TEMPLATE, "subGroupPolicy")
    part = whole(policy.get("subGroupSize"))
    yield from not_below(policy, path, "subGroupSize", 1, "LeaderWorkerSet's webhook refuses it")
    if part is None or size is None or part < 1 or size < 1:
        return
    excluded = policy.get("subGroupPolicyType") == "LeaderExcluded"
    if (size - 1) % part and (excluded or size % part):
        sizes = f"{size - 1}" if excluded else f"size {size} nor size - 1"
        yield refused(
            (*path, "subGroupSize"),
            f"is {part}, which divides neither {sizes}"
            if not excluded
            else f"is {part}, which does not divide {sizes}",
            "write a divisor of size or of size - 1",
        )


_REPLACED = ("maxSurge", "maxUnavailable")
