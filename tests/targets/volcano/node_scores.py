"""Node scores of Volcano's plugins binpack and nodeorder, in their own arithmetic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from policykit.kube import scores as kube
from policykit.model.pool import Amounts
from tests.kube import scoring

BALANCED_RESOURCES = ("cpu", "memory", "nvidia.com/gpu")
"""What balancedresource looks at: no other card counts, whatever the configuration says."""


def binpack(
    asked: Amounts, used: Amounts, allocatable: Amounts, weights: Mapping[str, int], weight: int
) -> float:
    """Filled share after placement, 0 to 100 times `weight`.

    `weights` holds cpu, memory and the names in binpack.resources. A configured resource that
    does not fit makes the node 0; one the node lacks scores 0 and still counts in the mean.
    Source: `plugins/binpack/binpack.go` (v1.15.1; the same since v1.8).
    """
    total, weight_sum = 0.0, 0
    for resource, amount in asked.items():
        if not amount or resource not in weights:
            continue
        share, capacity = weights[resource], allocatable.get(resource, 0)
        filled = used.get(resource, 0) + amount
        if capacity and share and filled > capacity:
            return 0.0
        total += filled * share / capacity if capacity else 0.0
        weight_sum += share
    return total / weight_sum * (kube.MAX_SCORE * weight) if weight_sum else 0.0


def strategy_fit(
    asked: Amounts,
    used: Amounts,
    allocatable: Amounts,
    resources: Mapping[str, tuple[str, int]],
    weight: int,
) -> float:
    """resource-strategy-fit: filled or free share by resource, 0 to 100 times `weight`.

    `resources` holds (MostAllocated or LeastAllocated, weight) by name. One that does not fit
    makes the node 0, unless its weight is 0; one the node lacks scores 0 and still counts in the
    mean. Source: `plugins/resource-strategy-fit/resource_strategy_fit.go` (v1.13.0 to v1.15.1).
    """
    total, weight_sum = 0.0, 0
    for resource, amount in asked.items():
        if not amount or resource not in resources:
            continue
        (kind, share), capacity = resources[resource], allocatable.get(resource, 0)
        filled = used.get(resource, 0) + amount
        if capacity and share and filled > capacity:
            return 0.0
        counted = filled if kind == "MostAllocated" else capacity - filled
        total += counted * share / capacity if capacity else 0.0
        weight_sum += share
    return (total / weight_sum if weight_sum else total) * kube.MAX_SCORE * weight


def scarce_free(asked: Amounts, allocatable: Amounts, scarce: Mapping[str, int], weight: int) -> float:
    """Its part sra: the share of scarce resources that a node lacks, 0 to 100 times `weight`.

    A node that lacks what the pod asks for scores 0. Source: `sra.go` beside it.
    """
    if any(amount and not allocatable.get(resource, 0) for resource, amount in asked.items()):
        return 0.0
    total = sum(scarce.values())
    present = sum(share for resource, share in scarce.items() if allocatable.get(resource, 0))
    return (1.0 - present / total if total else present) * kube.MAX_SCORE * weight


def least_requested(asked: Amounts, used: Amounts, allocatable: Amounts) -> int:
    """leastrequested: how empty cpu and memory are, 50 to 50. Amounts are non-zero requests."""
    counted = scoring.shares({"cpu": 50, "memory": 50}, allocatable, used, asked)
    return scoring.fit_score("LeastAllocated", counted.values())


def most_requested(asked: Amounts, used: Amounts, allocatable: Amounts) -> int:
    """mostrequested: how full cpu and memory are. Amounts are non-zero requests."""
    counted = scoring.shares({"cpu": 1, "memory": 1}, allocatable, used, asked)
    return scoring.fit_score("MostAllocated", counted.values())


def balanced_resource(asked: Amounts, used: Amounts, allocatable: Amounts) -> int:
    """balancedresource: how alike cpu, memory and nvidia.com/gpu are filled.

    As in Kubernetes 1.35, which Volcano 1.15 is built with, and before.
    """
    counted = scoring.shares(dict.fromkeys(BALANCED_RESOURCES, 1), allocatable, used, asked)
    return scoring.balanced_score(counted.values(), up_to_1_35=True)


def node_affinity(raw: Sequence[int]) -> tuple[int, ...]:
    """nodeaffinity of all candidate nodes, from the sums of the preferred terms each matches."""
    return scoring.normalised(raw)


def taint_toleration(raw: Sequence[int]) -> tuple[int, ...]:
    """tainttoleration of all candidate nodes, from their numbers of untolerated soft taints."""
    return scoring.normalised(raw, reverse=True)


def nodeorder(parts: Mapping[str, int], weights: Mapping[str, int]) -> int:
    """Sum of the parts, each 0 to 100, times their weights; both are named as the arguments are."""
    return sum(score * weights.get(part, 0) for part, score in parts.items())
