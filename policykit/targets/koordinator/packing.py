"""What NodeResourcesFitPlus is to do in a cluster: resources, weights, and what they guarantee."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from policykit.errors import PolicykitError
from policykit.kube.scores import MAX_SCORE
from policykit.model.cluster import Cluster, Target
from policykit.model.workload import WorkloadKind
from policykit.targets.koordinator import config, weights
from policykit.targets.koordinator.scores import Fit
from policykit.targets.koordinator.weights import Margin, Rival
from policykit.targets.release import Version

DEFAULT_BESIDE: Mapping[str, Fit] = {
    "cpu": Fit("LeastAllocated", 2),
    "memory": Fit("LeastAllocated", 1),
}
"""Where the policy states no weights: cards are packed, what stands beside them spreads a little."""
ASSUMED_CARDS = 16
"""Cards per node where neither the policy nor the catalogue says: no common server holds more."""
_TYPES = ("MostAllocated", "LeastAllocated")
_REPLICATED = frozenset({"time-slicing", "mps"})


class Packing(NamedTuple):
    """Every number that is written, and those it rests on."""

    fit: Mapping[str, Fit]
    margins: tuple[Margin, ...]
    rivals: tuple[Rival, ...]
    asked: Mapping[str, int]
    """Scoring plugins left out of the sum, since a pod must ask for them, with their weights."""
    weight: int
    """Of NodeResourcesFitPlus at score."""
    affinity: int | None
    """Of NodeAffinity at score; None: nothing prefers a usage."""


def packing(
    cluster: Cluster, target: Target, profile: Mapping[str, Any], name: str, version: Version
) -> Packing:
    """The numbers for the profile that serves schedulerName `name`. Raises PolicykitError for bad weights."""
    sizes = cards_per_node(cluster)
    fit = stated_fit(cluster, target) or default_fit(sizes)
    cards = [resource for resource in sizes if resource in fit]
    beside = [resource for resource in fit if resource not in sizes]
    scoring = config.scoring_plugins(profile, version)
    against = weights.rivals(
        scoring, cards, soft_taints=_soft_taints(cluster), spreads=_spreads_by_default(profile)
    )
    margins = tuple(weights.margin(resource, sizes[resource], fit, beside) for resource in cards)
    weight = weights.packing_weight(margins, against)
    kinds = preferring(cluster, name)
    gap = min(map(weights.preference_gap, kinds), default=MAX_SCORE)
    affinity = weights.preference_weight(gap, against, weight) if kinds else None
    return Packing(
        fit,
        margins,
        against,
        {plugin: w for plugin, w in scoring.items() if plugin in weights.ONLY_WHEN_ASKED},
        weight,
        max(affinity, scoring.get("NodeAffinity", 0)) if affinity else None,
    )


def preferring(cluster: Cluster, name: str) -> tuple[WorkloadKind, ...]:
    """Workload kinds that this schedulerName serves and that prefer a usage."""
    return tuple(
        kind
        for kind in cluster.workloads.values()
        if kind.scheduler == name and any(weight > 0 for weight in kind.prefer.values())
    )


def stated_fit(cluster: Cluster, target: Target) -> dict[str, Fit]:
    """`options.fit`: `{resource or card: {type, weight}}`. Raises PolicykitError for what has no effect.

    The plugin checks nothing: a type it does not know scores 0 with its full weight.
    """
    found = {}
    for name, each in (target.options.get("fit") or {}).items():
        kind, weight = each.get("type", "MostAllocated"), each.get("weight", 1)
        if kind not in _TYPES:
            raise PolicykitError(f"fit of {name} has type {kind!r}", f"write {' or '.join(_TYPES)}")
        if not isinstance(weight, int) or isinstance(weight, bool) or weight < 1:
            raise PolicykitError(f"fit of {name} has weight {weight!r}", "write a whole number from 1 on")
        found[cluster.cards[name].resource if name in cluster.cards else name] = Fit(kind, weight)
    return found


def default_fit(sizes: Mapping[str, int]) -> dict[str, Fit]:
    """Every card packed, heavy enough to show against cpu and memory; nothing without cards."""
    beside = DEFAULT_BESIDE.values()
    cards = {
        resource: Fit("MostAllocated", weights.card_weight(cards, beside))
        for resource, cards in sizes.items()
    }
    return {**cards, **DEFAULT_BESIDE} if cards else {}


def cards_per_node(cluster: Cluster) -> dict[str, int]:
    """Card resource to the largest number of it on a node, sorted by name."""
    sizes: dict[str, int] = {}
    for pool in cluster.pools:
        card = cluster.card_of(pool)
        for resource in pool.resources or ((card.resource,) if card else ()):
            stated = max((shape.allocatable.get(resource, 0) for shape in pool.shapes), default=0)
            if not stated and card and resource == card.resource:
                stated = card.per_node * (pool.sharing.replicas if pool.sharing.mode in _REPLICATED else 1)
            sizes[resource] = max(sizes.get(resource, 0), stated)
    return {resource: sizes[resource] or ASSUMED_CARDS for resource in sorted(sizes)}


def _soft_taints(cluster: Cluster) -> bool:
    taints = [taint for pool in cluster.pools for taint in pool.taints]
    if cluster.control_plane_taint:
        taints.append(cluster.control_plane_taint)
    return any(not taint.hard for taint in taints)


def _spreads_by_default(profile: Mapping[str, Any]) -> bool:
    """PodTopologySpread's system default scores every pod of a Service, ReplicaSet or StatefulSet."""
    args = config.arguments(profile, "PodTopologySpread")
    return args.get("defaultingType", "System") != "List" or bool(args.get("defaultConstraints"))
