"""Packing and spreading by resource: which plugin does it, with which weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from policykit.model.cluster import Cluster
from policykit.model.placement import BINPACK, SPREAD
from policykit.targets import fleet
from policykit.targets.release import Version
from policykit.targets.volcano import versions
from policykit.targets.volcano.options import VolcanoOptions
from policykit.targets.volcano.scheduler import reasons, weights
from policykit.targets.volcano.scheduler.placement import DesiredPlacement
from policykit.targets.volcano.scheduler.weights import Step

BINPACK_PLUGIN, FIT_PLUGIN = "binpack", "resource-strategy-fit"


class Packing(NamedTuple):
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


def packing(
    cluster: Cluster,
    desired: DesiredPlacement,
    options: VolcanoOptions,
    version: Version,
    rivals: Mapping[str, int],
) -> Packing:
    """How a release does it. Below 1.13 only packed resources can be weighed."""
    if desired.by_resource and version >= versions.RESOURCE_STRATEGY:
        return _weighed(cluster, desired, options, rivals, FIT_PLUGIN)
    if desired.strategy == SPREAD and not desired.mixed:
        late = (reasons.spread_by_card(version),) if desired.by_resource else ()
        return Packing(spreading=weights.SPREADING, notices=(reasons.SPREAD_ONLY, *late))
    return _packed(cluster, desired, options, version, rivals)


def _packed(
    cluster: Cluster,
    desired: DesiredPlacement,
    options: VolcanoOptions,
    version: Version,
    rivals: Mapping[str, int],
) -> Packing:
    """Plugin binpack: what should be spread counts nothing in it."""
    listed = {*desired.weights, "cpu", "memory", *fleet.cards_per_node(cluster)}
    spread = sorted(name for name in listed if desired.strategy_of(name) == SPREAD)
    without = options._replace(resources={**dict.fromkeys(spread, 0), **options.resources})
    made = _weighed(cluster, desired, without, rivals, BINPACK_PLUGIN)
    notices = (reasons.not_spread(spread, version),) if spread else ()
    return made._replace(notices=(*notices, *made.notices))


def _weighed(
    cluster: Cluster,
    desired: DesiredPlacement,
    options: VolcanoOptions,
    rivals: Mapping[str, int],
    plugin: str,
) -> Packing:
    total = sum(rivals.values())
    steps, resources, notices = _steps(cluster, {**desired.weights, **options.resources})
    counted = [step for step in steps if step.weight or plugin == BINPACK_PLUGIN]
    if plugin == BINPACK_PLUGIN:
        counted = [step for step in counted if desired.strategy_of(step.resource) == BINPACK]
    weight, unpacked = _plugin_weight(counted, options.weight, total, rivals)
    strategies = {name: desired.strategy_of(name) for name in resources}
    comments: list[str] = []
    for strategy, opening in ((BINPACK, reasons.PACKING), (SPREAD, reasons.SPREADING)):
        shown = [step for step in counted if strategies[step.resource] == strategy and weight]
        lines = [line for step in shown for line in reasons.packing(step, weight, total, plugin)]
        comments += [opening, *lines] if lines else []
    if comments:
        comments.append(reasons.rivals(dict(rivals)))
    return Packing(
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
