"""What people should hear about the numbers: where a promise ends, and what to change."""

from __future__ import annotations

from collections.abc import Iterator

from policykit.model.cluster import Cluster
from policykit.targets.koordinator import versions, weights
from policykit.targets.koordinator.config import Source
from policykit.targets.koordinator.packing import Packing, cards_per_node
from policykit.targets.koordinator.weights import MAX_POINTS, Margin
from policykit.targets.release import Version

_NATIVE = frozenset({"cpu", "memory", "ephemeral-storage"})


def nearest(version: Version) -> str:
    """For a release without the plugin."""
    return (
        f"Koordinator {version} has no NodeResourcesFitPlus (since {versions.FIT_PLUS}), so cards cannot be "
        "packed while cpu and memory spread, and nothing is written. What comes nearest: in the scheduler's "
        "profile, args of NodeResourcesFit with scoringStrategy type MostAllocated over the cards' "
        "resources, and its weight at score above the sum of the others"
    )


def starting(version: Version, source: Source) -> Iterator[str]:
    why = versions.cannot_start(version, source.api_version)
    if why:
        yield why


def numbers(cluster: Cluster, name: str, packing: Packing) -> Iterator[str]:
    """`name`: the schedulerName the packing is for."""
    yield from _unoffered(cluster, packing)
    for margin in packing.margins:
        yield from _undecided(margin, packing)
    yield from _outweighed(packing)
    for each in cluster.workloads.values():
        if each.scheduler == name and each.placement == "spread" and packing.margins:
            yield (
                f"workload kind {each.name} asks to spread, but every pod of schedulerName {name} is packed: "
                "one profile has one set of weights. Give the kind topologySpreadConstraints, or another "
                "scheduler"
            )


def _unoffered(cluster: Cluster, packing: Packing) -> Iterator[str]:
    offered = {resource for pool in cluster.pools for shape in pool.shapes for resource in shape.allocatable}
    offered.update(cards_per_node(cluster), _NATIVE)
    for resource in packing.fit:
        if resource not in offered:
            yield f"fit names {resource}, which no pool offers: it scores nothing"


def _undecided(margin: Margin, packing: Packing) -> Iterator[str]:
    """Where the weights leave a difference of one card open."""
    if margin.step == 1 and margin.points:
        return
    cards = {each.resource for each in packing.margins}
    beside = {resource: fit for resource, fit in packing.fit.items() if resource not in cards}
    listed = ", ".join(f"{resource} {fit.weight}" for resource, fit in beside.items())
    sure = f"only from {margin.step} more in use on" if margin.points else "for no difference in use"
    said = (
        f"{margin.resource}: with weight {packing.fit[margin.resource].weight} beside {listed or 'nothing'}, "
        f"and {margin.cards} on a node, the fuller node is sure to win {sure}, since cpu and memory may be "
        "filled against it"
    )
    if weights.decides_singly(margin.cards):
        enough = weights.lightest(MAX_POINTS // margin.cards, beside.values(), 1)
        yield f"{said}. From weight {enough} on a single one decides"
    else:
        yield f"{said}; a single one moves its score by less than two points"


def _outweighed(packing: Packing) -> Iterator[str]:
    reservation = packing.asked.get("Reservation")
    against = sum(rival.points for rival in packing.rivals)
    against += MAX_POINTS * (packing.weight + (packing.affinity or 0))
    if reservation is not None and reservation * MAX_POINTS <= against:
        yield (
            f"Reservation weighs {reservation} at score, no more than all others together ({against}): "
            f"raise it above {against // MAX_POINTS}, or pods may miss the node that reserves for them"
        )
