"""Scores of kube-scheduler's default plugins for a node: the reference that weights are tested with."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from policykit.kube.requests import _add, _aggregate, _pod_level, amounts, requested
from policykit.kube.scores import MAX_SCORE, Shape, _divided, least, most, ratio
from policykit.model.pool import Amounts

DEFAULT_WEIGHTS: Mapping[str, int] = {
    "TaintToleration": 3,
    "NodeAffinity": 2,
    "NodeResourcesFit": 1,
    "NodeResourcesBalancedAllocation": 1,
}
"""Weights of the default profile (v1.36), of the plugins scored here."""

UNSTATED: Amounts = {"cpu": 100, "memory": 200 * 1024 * 1024}
"""Requests that scoring assumes for a container without any (kubernetes v1.36)."""


class Share(NamedTuple):
    """Input of a strategy for one resource of one node, in the units of `model.pool.Amounts`."""

    used: int
    """Requests of the pods on the node."""
    asked: int
    """Request of the pod being placed."""
    allocatable: int
    weight: int = 1

    @property
    def requested(self) -> int:
        return self.used + self.asked


def shares(
    weights: Mapping[str, int], allocatable: Amounts, used: Amounts, asked: Amounts
) -> dict[str, Share]:
    """The input for each resource of a strategy, without resources that do not count.

    Left out are resources the node does not have, and those other than cpu and memory that
    the pod does not ask for. Source: `resource_allocation.go` in kubernetes
    `plugins/noderesources` (v1.36).
    """
    return {
        resource: Share(used.get(resource, 0), asked.get(resource, 0), allocatable[resource], weight)
        for resource, weight in weights.items()
        if allocatable.get(resource) and (asked.get(resource) or resource in ("cpu", "memory"))
    }


def score(strategy: str, requested: int, allocatable: int, shape: Shape = ()) -> int:
    """The score of one resource with a strategy: LeastAllocated, MostAllocated or
    RequestedToCapacityRatio. Raises KeyError for any other."""
    if strategy == "RequestedToCapacityRatio":
        return ratio(requested, allocatable, shape)
    return {"LeastAllocated": least, "MostAllocated": most}[strategy](requested, allocatable)


def fit_score(strategy: str, resources: Iterable[Share], shape: Shape = ()) -> int:
    """NodeResourcesFit: the weighted mean over the resources that count (see `shares`).

    Requests are the non-zero ones of `scoring_requests`. The mean is cut off, but rounded
    for RequestedToCapacityRatio, where resources that score 0 leave it altogether.
    """
    scored = [(score(strategy, s.requested, s.allocatable, shape), s.weight) for s in resources]
    if strategy == "RequestedToCapacityRatio":
        scored = [(points, weight) for points, weight in scored if points]
    total = sum(points * weight for points, weight in scored)
    weights = sum(weight for _, weight in scored)
    if not weights:
        return 0
    if strategy == "RequestedToCapacityRatio":
        return (2 * total + weights) // (2 * weights)
    return total // weights


def balanced_score(resources: Iterable[Share], *, up_to_1_35: bool = False) -> int:
    """NodeResourcesBalancedAllocation: how evenly the resources are allocated, with the pod and without.

    Requests are the real ones of `requests.effective`. 0 for a pod that asks for none of the
    resources. Up to 1.35 only the state with the pod counts. Source: `balanced_allocation.go`.
    """
    counted = [share for share in resources if share.allocatable > 0]
    if not any(share.asked for share in counted):
        return 0
    after = _balance([share.requested / share.allocatable for share in counted])
    if up_to_1_35:
        return after
    before = _balance([share.used / share.allocatable for share in counted])
    return 50 + _divided(50 + after - before, 2)


def _balance(fractions: Iterable[float]) -> int:
    capped = [min(1.0, fraction) for fraction in fractions]
    if len(capped) < 2:
        deviation = 0.0
    elif len(capped) == 2:
        deviation = abs(capped[0] - capped[1]) / 2
    else:
        mean = sum(capped) / len(capped)
        total = 0.0
        for fraction in capped:
            total += (fraction - mean) * (fraction - mean)
        deviation = (total / len(capped)) ** 0.5
    return int((1 - deviation) * MAX_SCORE)


def normalised(raw: Sequence[int], *, reverse: bool = False) -> tuple[int, ...]:
    """Raw scores of all feasible nodes on the scale 0 to 100 of the highest.

    NodeAffinity as it is, TaintToleration reversed. Source: `helper/normalize_score.go` (v1.36).
    """
    highest = max(raw, default=0)
    scaled = [MAX_SCORE * points // highest if highest > 0 else 0 for points in raw]
    return tuple(MAX_SCORE - points if reverse else points for points in scaled)


def scoring_requests(spec: Mapping[str, Any], *, existing: bool = False) -> dict[str, int]:
    """What NodeResourcesFit scores: 100m and 200Mi for each container without a request.

    The incoming pod is scored without its pod-level requests. With `existing` (a pod on the
    node already) they count, and a resource they or any container state has no default.
    Source: kubernetes `noderesources/resource_allocation.go`, `framework/types.go` (v1.36).
    """
    stated: Amounts = {}
    pod_level: Amounts = {}
    if existing:
        aggregate = _aggregate(spec, requested)
        pod_level = _pod_level(spec, aggregate)
        stated = {**aggregate, **pod_level} if pod_level else {}
    defaults = {resource: unstated for resource, unstated in UNSTATED.items() if resource not in stated}
    total = _aggregate(spec, lambda container: {**defaults, **requested(container)})
    return _add({**total, **pod_level}, amounts(spec.get("overhead")))
