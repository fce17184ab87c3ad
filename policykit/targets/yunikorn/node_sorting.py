"""The node sorting policy for all pods, computed from the placements of the workload kinds."""

from __future__ import annotations

from collections.abc import Sequence
from math import lcm

from policykit.model.cluster import Cluster, TargetSettings
from policykit.model.placement import BINPACK, SPREAD, Placement
from policykit.model.workload import WorkloadKind
from policykit.namedtuple import NamedTuple
from policykit.targets import capacity
from policykit.targets.yunikorn.configuration.queues_yaml import NodeSort
from policykit.targets.yunikorn.configuration.resources import CORES

SCHEDULER = "yunikorn"
_TYPES = {BINPACK: "binpacking", SPREAD: "fair"}
_LARGEST_WEIGHT = 10_000
"""Upper bound, however many sizes of nodes there are."""
_NATIVE_WEIGHTS = {CORES: 1.0, "memory": 1.0}


class NodeSorting(NamedTuple):
    """The order of nodes, the reasons for its weights, and notices about what it cannot do."""

    sort: NodeSort = NodeSort()
    comments: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()


def sorting(cluster: Cluster, target: TargetSettings, stated: NodeSort | None) -> NodeSorting:
    """The node order of the partition: from the option, or else from the first placement that packs.

    With neither, cards are packed, so that whole nodes stay free for jobs that need them.
    """
    wanted = _placements(cluster, target)
    if stated is not None:
        chosen = [each for each in wanted if _TYPES[each.strategy] == stated.type]
        others = [each for each in wanted if each not in chosen]
        return _with_weights(cluster, stated, _conflicting_placements(stated.type, others))
    if not wanted:
        packed = NodeSort(_TYPES[BINPACK])
        return _with_weights(cluster, packed, ()) if _cards_per_node(cluster) else NodeSorting()
    first = next((each for each in wanted if each.strategy == BINPACK), wanted[0])
    sort = NodeSort(_TYPES[first.strategy], _stated_weights(first))
    others = [each for each in wanted if each != first]
    return _with_weights(
        cluster, sort, (*_conflicting_placements(sort.type, others), *_unsupported_parts(first))
    )


def served_kinds(cluster: Cluster, target: TargetSettings) -> list[WorkloadKind]:
    """Kinds whose pods may name this scheduler, in the policy's order."""
    names = ("", target.scheduler_name or SCHEDULER)
    return [kind for kind in cluster.workloads.values() if kind.scheduler in names]


def _with_weights(cluster: Cluster, sort: NodeSort, notices: tuple[str, ...]) -> NodeSorting:
    if sort.weights:
        return NodeSorting(sort, (), notices)
    comments = tuple(
        f"Weight of {resource}: one card of {' or '.join(map(str, counts))} per node outweighs vcore and "
        "memory together"
        for resource, counts in _cards_per_node(cluster).items()
    )
    return NodeSorting(NodeSort(sort.type, _weights(cluster)), comments, notices)


def _placements(cluster: Cluster, target: TargetSettings) -> list[Placement]:
    """The distinct placements of the kinds, in the policy's order."""
    found: dict[str, Placement] = {}
    for kind in served_kinds(cluster, target):
        if kind.placement_name in cluster.placements:
            found.setdefault(kind.placement_name, cluster.placements[kind.placement_name])
        elif kind.placement in _TYPES:
            found.setdefault(kind.placement, Placement(kind.placement, kind.placement))
    return list(found.values())


def _stated_weights(placement: Placement) -> dict[str, float]:
    """Weights of the resources that have the strategy of the placement."""
    return {
        CORES if name == "cpu" else name: float(each.weight)
        for name, each in sorted(placement.resources.items())
        if each.strategy == placement.strategy
    }


def _conflicting_placements(type_: str, others: Sequence[Placement]) -> tuple[str, ...]:
    if not others:
        return ()
    return (
        f"placement {', '.join(each.name for each in others)} is not possible: YuniKorn sorts nodes by one "
        f"policy for all pods, which is {type_}. Nearest: topologySpreadConstraints with DoNotSchedule in "
        "pods to spread, or another scheduler for them",
    )


def _unsupported_parts(placement: Placement) -> tuple[str, ...]:
    """Parts of the chosen placement that the weights cannot express."""
    found: list[str] = []
    mixed = [name for name, each in placement.resources.items() if each.strategy != placement.strategy]
    if mixed:
        found.append(
            f"placement {placement.name}: {', '.join(sorted(mixed))} cannot have another strategy "
            "than the rest. Nearest: left out of the weights"
        )
    if placement.shape:
        found.append(
            f"placement {placement.name}: shape has no counterpart in YuniKorn, whose scores are linear"
        )
    if placement.avoid:
        found.append(
            f"placement {placement.name}: avoid has no counterpart in YuniKorn. Nearest: taints on the nodes "
            f"with {', '.join(placement.avoid)}, or required usages of the workload kinds that request none"
        )
    return tuple(found)


def _weights(cluster: Cluster) -> dict[str, float]:
    """Weights by which one card more or less outweighs all of vcore and memory; empty without cards."""
    sizes = _cards_per_node(cluster)
    if not sizes:
        return {}
    cards = {
        resource: min(len(_NATIVE_WEIGHTS) * lcm(*counts) + 1, _LARGEST_WEIGHT)
        for resource, counts in sizes.items()
    }
    return {**_NATIVE_WEIGHTS, **{resource: float(weight) for resource, weight in cards.items()}}


def _cards_per_node(cluster: Cluster) -> dict[str, list[int]]:
    """Card resource to its distinct counts per node, ascending; unknown counts are assumed."""
    sizes = capacity.cards_per_node(cluster)
    return {resource: capacity.assumed(counts) for resource, counts in sizes.items() if counts}
