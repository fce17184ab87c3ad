"""Packing and spreading of resources: which plugin does it, with which weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from policykit.model.cluster import Cluster
from policykit.model.placement import BINPACK, SPREAD
from policykit.targets import fleet
from policykit.targets.release import Version
from policykit.targets.volcano import versions
from policykit.targets.volcano.scheduler import reasons, weights
from policykit.targets.volcano.scheduler.options import Stated
from policykit.targets.volcano.scheduler.weights import Step
from policykit.targets.volcano.scheduler.wishes import Wish

BINPACK_PLUGIN, FIT_PLUGIN = "binpack", "resource-strategy-fit"


class Placing(NamedTuple):
    """What scores how full a node is."""

    plugin: str = ""
    """binpack or resource-strategy-fit; empty: nodeorder alone."""
    weight: int = 0
    """0: the plugin is left out."""
    resources: Mapping[str, int] = {}
    """Weights inside the plugin, cpu and memory included."""
    strategies: Mapping[str, str] = {}
    """Resource to binpack or spread."""
    spreading: Mapping[str, int] = dict.fromkeys(weights.SPREADING, 0)
    """Parts of nodeorder that pull pods apart."""
    comments: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()


def placing(
    cluster: Cluster, wish: Wish, stated: Stated, version: Version, rivals: Mapping[str, int]
) -> Placing:
    """How the wish is had in a release. Below 1.13 only what is packed can be told apart."""
    if wish.by_resource and version >= versions.RESOURCE_STRATEGY:
        return _weighed(cluster, wish, stated, rivals, FIT_PLUGIN)
    if wish.strategy == SPREAD and not wish.mixed:
        late = (reasons.spread_by_card(version),) if wish.by_resource else ()
        return Placing(spreading=weights.SPREADING, notices=(reasons.SPREAD_ONLY, *late))
    return _packed(cluster, wish, stated, version, rivals)


def _packed(
    cluster: Cluster, wish: Wish, stated: Stated, version: Version, rivals: Mapping[str, int]
) -> Placing:
    """Plugin binpack: what should be spread counts nothing in it."""
    listed = {*wish.stated, "cpu", "memory", *fleet.cards_per_node(cluster)}
    spread = sorted(name for name in listed if wish.strategy_of(name) == SPREAD)
    without = stated._replace(resources={**dict.fromkeys(spread, 0), **stated.resources})
    made = _weighed(cluster, wish, without, rivals, BINPACK_PLUGIN)
    notices = (reasons.not_spread(spread, version),) if spread else ()
    return made._replace(notices=(*notices, *made.notices))


def _weighed(cluster: Cluster, wish: Wish, stated: Stated, rivals: Mapping[str, int], plugin: str) -> Placing:
    total = sum(rivals.values())
    steps, resources, notices = _steps(cluster, {**wish.stated, **stated.resources})
    counted = [step for step in steps if step.weight or plugin == BINPACK_PLUGIN]
    if plugin == BINPACK_PLUGIN:
        counted = [step for step in counted if wish.strategy_of(step.resource) == BINPACK]
    weight, unpacked = _plugin_weight(counted, stated.weight, total, rivals)
    strategies = {name: wish.strategy_of(name) for name in resources}
    comments: list[str] = []
    for strategy, opening in ((BINPACK, reasons.PACKING), (SPREAD, reasons.SPREADING)):
        shown = [step for step in counted if strategies[step.resource] == strategy and weight]
        lines = [line for step in shown for line in reasons.packing(step, weight, total, plugin)]
        comments += [opening, *lines] if lines else []
    if comments:
        comments.append(reasons.rivals(dict(rivals)))
    return Placing(
        plugin, weight, resources, strategies, comments=tuple(comments), notices=(*notices, *unpacked)
    )


def _steps(cluster: Cluster, stated: Mapping[str, int]) -> tuple[list[Step], dict[str, int], list[str]]:
    sizes = fleet.cards_per_node(cluster)
    resources = {"cpu": 1, "memory": 1, **{name: stated[name] for name in sorted(stated)}}
    fill = sum(weight for resource, weight in resources.items() if resource not in sizes)
    steps: list[Step] = []
    notices: list[str] = []
    for resource, found in sizes.items():
        known = fleet.assumed(found)
        if 0 in found:
            notices.append(reasons.unknown_size(resource, fleet.ASSUMED_CARDS))
        if len(known) > 1:
            notices.append(reasons.mixed_sizes(resource, known))
        cards = weights.common_multiple(known)
        weight = resources.setdefault(resource, weights.card_weight(cards, fill))
        steps.append(Step(resource, cards, weight, fill))
    return steps, resources, notices


def _plugin_weight(
    steps: Sequence[Step], wanted: int | None, total: int, rivals: Mapping[str, int]
) -> tuple[int, list[str]]:
    if wanted == 0:
        return 0, [reasons.OFF]
    notices = [reasons.too_light(step) for step in steps if step.lead <= 0]
    needed = max((_needed(step, total) for step in steps), default=1)
    if wanted is None:
        if needed > weights.LARGEST:
            notices.append(reasons.too_heavy(needed))
        return min(needed, weights.LARGEST), notices
    if wanted < needed:
        notices.append(reasons.too_low(wanted, needed, rivals))
    return wanted, notices


def _needed(step: Step, rivals: int) -> int:
    """With a card too light against cpu and memory, at least packing at equal fill of those."""
    exact = weights.packing_weight(step, rivals)
    return exact if exact is not None else weights.even_packing_weight(step, rivals)
