"""Scores of koord-scheduler's plugins, 0 to 100, in its own integer arithmetic (1.6 to 1.8).

Written apart from the arithmetic that computes weights, to test it. NodeResourcesFit and
NodeResourcesBalancedAllocation are Kubernetes' own: `tests.kube.scoring`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from policykit.kube.scores import MAX_SCORE, least
from policykit.model.pool import Amounts
from policykit.targets.koordinator.options import Fit
from tests.kube.scoring import fit_score, score, shares

UNSTATED: Amounts = {"cpu": 250, "memory": 200 * 1024 * 1024}
"""What LoadAwareScheduling expects of a pod that states no request: milli-cores, bytes."""


class Device(NamedTuple):
    """The devices of one type on one node, one resource: what DeviceShare adds up over them."""

    total: int
    free: int
    per_instance: int
    """Of the pod's request that falls on a single device."""
    weight: int = 1


def fit_plus(
    fit: Mapping[str, Fit],
    allocatable: Amounts,
    used: Amounts,
    asked: Amounts,
    counted: Amounts | None = None,
) -> int:
    """NodeResourcesFitPlus: the weighted mean over the resources the pod asks for.

    `used` counts cpu and memory with the scheduler's defaults for pods that state none, and so does
    `counted`, the pod's own request where that differs from `asked`. A resource the node lacks
    scores 0 with its full weight; a pod that asks for none scores 100 on every node.
    Source: `noderesourcefitplus/node_resource_fit_plus_utils.go`.
    """
    own = asked if counted is None else counted
    total = weights = 0
    for resource, each in fit.items():
        if asked.get(resource, 0) > 0:
            requested = used.get(resource, 0) + own.get(resource, 0)
            total += each.weight * score(each.type, requested, allocatable.get(resource, 0))
            weights += each.weight
    return total // weights if weights else MAX_SCORE


def load_aware(
    weights: Mapping[str, int], allocatable: Amounts, estimated: Amounts | None, dominant: int = 0
) -> int:
    """LoadAwareScheduling: the free part of the load expected with the pod.

    `estimated` None: the node reports no metric, or one that expired. Source: `loadaware/load_aware.go`.
    """
    if estimated is None:
        return 0
    free = {
        resource: least(estimated.get(resource, 0), allocatable.get(resource, 0))
        for resource in {"cpu": 0, "memory": 0, **weights}
    }
    total = sum(free[resource] * weight for resource, weight in weights.items())
    of = sum(weights.values()) + dominant
    return (total + dominant * min(free.values())) // of if of > 0 else 0


def estimated_load(resource: str, requested: int, limit: int, factor: int) -> int:
    """What LoadAwareScheduling expects a pod to use of a resource; `factor` in percent.

    Source: `loadaware/estimator/default_estimator.go`.
    """
    stated = max(requested, limit)
    if stated == 0:
        return UNSTATED.get(resource, 0)
    scaled = (2 * stated * factor + 100) // 200
    return min(scaled, limit) if limit else scaled


def numa(
    strategy: str, weights: Mapping[str, int], allocatable: Amounts, used: Amounts, asked: Amounts
) -> int:
    """NodeNUMAResource on a node without NUMA policy: real requests, no defaults.

    Source: `nodenumaresource/scoring.go`.
    """
    return fit_score(strategy, shares(weights, allocatable, used, asked).values())


def device_share(strategy: str, types: Sequence[Sequence[Device]]) -> int:
    """DeviceShare of one node before normalisation (`scoring.normalised`); may exceed 100.

    `types`: per device type the pod asks for and the node has, its scored resources.
    Source: `deviceshare/scoring.go`.
    """
    return sum(_device_type(strategy, resources) for resources in types)


def _device_type(strategy: str, resources: Sequence[Device]) -> int:
    counted = [device for device in resources if device.total]
    points = sum(device.weight * score(strategy, _taken(device), device.total) for device in counted)
    weights = sum(device.weight for device in counted)
    return points // weights if weights else 0


def _taken(device: Device) -> int:
    if device.total < device.free:
        return device.total
    return device.total - device.free + device.per_instance
