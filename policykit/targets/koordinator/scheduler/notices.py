"""What people should hear about the numbers: where a promise ends, and what to change."""

from __future__ import annotations

from collections.abc import Iterator

from policykit.model.cluster import Cluster
from policykit.model.placement import BINPACK, SPREAD
from policykit.targets.fleet import most_cards
from policykit.targets.koordinator import versions
from policykit.targets.koordinator.scheduler import config, weights
from policykit.targets.koordinator.scheduler.config import FIT, FIT_PLUS, Source
from policykit.targets.koordinator.scheduler.packing import Packing
from policykit.targets.koordinator.scheduler.profiles import Drawing, Drawn
from policykit.targets.koordinator.scheduler.weights import MAX_POINTS, Margin
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


def idle(version: Version) -> str:
    """Where the policy leaves the configuration as it is."""
    if version < versions.FIT_PLUS:
        return nearest(version)
    return "no pool offers a card, so there is nothing to pack: the chart's configuration is right"


def starting(version: Version, source: Source, drawing: Drawing) -> Iterator[str]:
    """Where the release cannot start with the args of the plugins that pack and avoid."""
    used = any(each.packing.avoid or _by_fit_plus(each.packing) for each in drawing.drawn)
    why = versions.cannot_start(version, source.api_version) if used else ""
    if why:
        yield why


def drawn(cluster: Cluster, version: Version, drawing: Drawing) -> Iterator[str]:
    """Of each profile in turn; those beside the target's own are named."""
    own = drawing.drawn[0].name
    for each in drawing.drawn:
        said = [
            *_placement(each, version),
            *_elsewhere(cluster, each.name),
            *numbers(cluster, each.name, each.packing),
        ]
        if each.placement is None and not each.packing.fit and version < versions.FIT_PLUS:
            said.append(nearest(version))
        yield from (text if each.name == own else f"profile {each.name}: {text}" for text in said)
    if len(drawing.drawn) > 1:
        yield (
            f"profiles {', '.join(each.name for each in drawing.drawn)} each keep accounts of devices, CPUs "
            "and quotas of their own, and hear of each other's pods when those are bound: let them share no "
            "nodes with shared cards or pinned CPUs, and no queue that must never go above its limit"
        )


def queue_sort(source: Source) -> Iterator[str]:
    """All profiles of one scheduler must sort its one queue alike."""
    given = source.data.get("profiles")
    sorts = {
        str(each.get("schedulerName")): ", ".join(config.point(each, "queueSort").enabled) or "PrioritySort"
        for each in (given if isinstance(given, list) else ())
        if isinstance(each, dict)
    }
    if len(set(sorts.values())) > 1:
        listed = ", ".join(f"{name} {plugin}" for name, plugin in sorts.items())
        yield f"profiles differ in queueSort, so koord-scheduler stops at start: {listed}. Give all the same"


def numbers(cluster: Cluster, name: str, packing: Packing) -> Iterator[str]:
    """`name`: the schedulerName the packing is for."""
    yield from _unoffered(cluster, packing)
    for margin in packing.margins:
        yield from _undecided(margin, packing)
    yield from _outweighed(packing)
    way = "packed" if packing.strategy == BINPACK else "spread"
    wish = {BINPACK: "asks to be packed", SPREAD: "asks to spread"}
    for each in cluster.workloads.values():
        apart = each.placement in wish and each.placement != packing.strategy
        if each.scheduler == name and apart and packing.margins:
            yield (
                f"workload kind {each.name} {wish[each.placement]}, but every pod of schedulerName {name} is "
                f"{way}: one profile has one set of weights. Give the kind topologySpreadConstraints, or "
                "another scheduler"
            )


def _placement(each: Drawn, version: Version) -> Iterator[str]:
    placement, packing = each.placement, each.packing
    if placement is None:
        return
    if each.others:
        yield (
            f"placements {', '.join((placement.name, *each.others))} are for one schedulerName, {each.name}, "
            f"and one profile has one set of weights: {placement.name} is taken. Give the others a scheduler "
            "of their own"
        )
    for plugin in each.opposed:
        yield (
            f"{plugin} scores by the options of the policy against placement {placement.name}: leave its "
            "scoringStrategy out, or turn its type round"
        )
    if packing.plugin == FIT:
        why = "a shape" if packing.shape else f"Koordinator {version}, which has no NodeResourcesFitPlus"
        left = f": {', '.join(packing.left_out)} left out" if packing.left_out else ""
        yield (
            f"placement {placement.name} is written for NodeResourcesFit, because of {why}: it scores "
            f"all its resources one way{left}"
        )
    if placement.avoid and version < versions.FIT_PLUS:
        yield (
            f"Koordinator {version} has no ScarceResourceAvoidance (since {versions.FIT_PLUS}), so nothing "
            f"keeps pods off {', '.join(placement.avoid)}. What comes nearest: a taint on its nodes, "
            "PreferNoSchedule for a wish"
        )


def _elsewhere(cluster: Cluster, name: str) -> Iterator[str]:
    """Workload kinds of this profile whose placement has a scheduler of its own: it has no effect here."""
    for kind in cluster.workloads.values():
        placement = cluster.placements.get(kind.placement_name)
        if kind.scheduler == name and placement and placement.scheduler not in ("", name):
            yield (
                f"workload kind {kind.name} names placement {placement.name}, whose scheduler is "
                f"{placement.scheduler}, and states scheduler {name}, which does not place so: leave the "
                "scheduler of one of the two out"
            )


def _by_fit_plus(packing: Packing) -> bool:
    return bool(packing.fit) and packing.plugin == FIT_PLUS


def _unoffered(cluster: Cluster, packing: Packing) -> Iterator[str]:
    offered = {resource for pool in cluster.pools for shape in pool.shapes for resource in shape.allocatable}
    offered.update(most_cards(cluster), _NATIVE)
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
    way = "more" if packing.fit[margin.resource].type == "MostAllocated" else "fewer"
    sure = f"only from {margin.step} {way} in use on" if margin.points else "for no difference in use"
    if packing.shape:
        yield (
            f"{margin.resource}: with this shape and {margin.cards} on a node, "
            f"{_winner(margin, packing)} is sure to win {sure}"
        )
        return
    said = (
        f"{margin.resource}: with weight {packing.fit[margin.resource].weight} beside {listed or 'nothing'}, "
        f"and {margin.cards} on a node, {_winner(margin, packing)} is sure to win {sure}, since "
        f"{' and '.join(beside) or 'nothing'} may be filled against it"
    )
    if weights.decides_singly(margin.cards):
        enough = weights.lightest(MAX_POINTS // margin.cards, beside.values(), 1)
        yield f"{said}. From weight {enough} on a single one decides"
    else:
        yield f"{said}; a single one moves its score by less than two points"


def _winner(margin: Margin, packing: Packing) -> str:
    return f"the {'fuller' if packing.fit[margin.resource].type == 'MostAllocated' else 'emptier'} node"


def _outweighed(packing: Packing) -> Iterator[str]:
    reservation = packing.asked.get("Reservation")
    against = packing.against_reservation
    if reservation is not None and reservation * MAX_POINTS <= against:
        yield (
            f"Reservation weighs {reservation} at score, no more than all others together ({against}): "
            f"raise it above {against // MAX_POINTS}, or pods may miss the node that reserves for them"
        )
