"""Packing and spreading by resource: what the policy asks for, the plugin that does it, and its weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from policykit.model.cluster import Cluster, TargetSettings
from policykit.model.release import Version
from policykit.model.workload import BINPACK, SPREAD, Placement, WorkloadKind
from policykit.namedtuple import NamedTuple
from policykit.targets import pool_capacity
from policykit.targets.volcano import versions
from policykit.targets.volcano.options import VolcanoOptions
from policykit.targets.volcano.scheduler import messages, weights
from policykit.targets.volcano.scheduler.weights import Step

SCHEDULER_NAME = "volcano"


class DesiredPlacement(NamedTuple):
    """How the configuration should place pods."""

    strategy: str = BINPACK
    placement: Placement | None = None
    """The named placement that it comes from; None: kinds state only a strategy, or nothing."""
    avoid: tuple[str, ...] = ()
    """Scarce resources of all placements of the kinds."""
    others: tuple[str, ...] = ()
    """Kinds with another named placement, which the configuration ignores."""

    def strategy_of(self, resource: str) -> str:
        stated = self.placement.resources.get(resource) if self.placement else None
        return stated.strategy if stated else self.strategy

    @property
    def weights(self) -> Mapping[str, int]:
        """Weights of resources that the placement states."""
        if self.placement is None:
            return {}
        return {name: each.weight for name, each in self.placement.resources.items()}

    @property
    def mixed(self) -> bool:
        """Whether some resources are packed and others spread."""
        listed = self.placement.resources.values() if self.placement else ()
        return any(each.strategy != self.strategy for each in listed)

    @property
    def by_resource(self) -> bool:
        """Whether the plugin needs a strategy for each resource."""
        return self.mixed or (self.strategy == SPREAD and self.placement is not None)

    @property
    def needs_strategy_fit(self) -> bool:
        """Whether resource-strategy-fit is needed."""
        return self.by_resource or bool(self.avoid)


def scheduled_kinds(cluster: Cluster, target: TargetSettings) -> list[WorkloadKind]:
    """Kinds whose pods this target's scheduler may place, in the policy's order."""
    names = ("", target.scheduler_name or SCHEDULER_NAME)
    return [
        kind
        for kind in cluster.workloads.values()
        if kind.scheduler in names and (kind.scheduler or _placed_by(cluster, kind) in names)
    ]


def _placed_by(cluster: Cluster, kind: WorkloadKind) -> str:
    placement = cluster.placements.get(kind.placement_name)
    return placement.scheduler if placement else ""


def strategy(cluster: Cluster, kind: WorkloadKind) -> str:
    """binpack, spread or empty."""
    placement = cluster.placements.get(kind.placement_name)
    return placement.strategy if placement else kind.placement


def desired_placement(cluster: Cluster, kinds: Sequence[WorkloadKind]) -> DesiredPlacement:
    """Spreading if every kind asks for it, else packing, by the first placement with that strategy."""
    spreading = bool(kinds) and all(strategy(cluster, kind) == SPREAD for kind in kinds)
    wanted = SPREAD if spreading else BINPACK
    named = [
        (kind, cluster.placements[kind.placement_name])
        for kind in kinds
        if kind.placement_name in cluster.placements
    ]
    chosen = next((placement for _, placement in named if placement.strategy == wanted), None)
    avoid = dict.fromkeys(resource for _, placement in named for resource in placement.avoid)
    others = [
        kind.name
        for kind, placement in named
        if placement.strategy == wanted and chosen and placement.resources != chosen.resources
    ]
    return DesiredPlacement(wanted, chosen, tuple(avoid), tuple(others))


BINPACK_PLUGIN, FIT_PLUGIN = "binpack", "resource-strategy-fit"


class Packing(NamedTuple):
    """The plugins that score how full a node is."""

    plugin: str = ""
    """binpack or resource-strategy-fit; empty: nodeorder alone."""
    weight: int = 0
    """0: the plugin is left out."""
    resources: Mapping[str, int] = {}
    """Weights inside the plugin, cpu and memory included."""
    strategies: Mapping[str, str] = {}
    """Resource to binpack or spread."""
    spreading: Mapping[str, int] = dict.fromkeys(weights.SPREADING, 0)
    """Parts of nodeorder that spread pods."""
    comments: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()


def packing(
    cluster: Cluster,
    desired: DesiredPlacement,
    options: VolcanoOptions,
    version: Version,
    rivals: Mapping[str, int],
) -> Packing:
    """How a release places pods as desired. Below 1.13 only packed resources can have weights."""
    if desired.by_resource and version >= versions.RESOURCE_STRATEGY:
        return _with_plugin(cluster, desired, options, rivals, FIT_PLUGIN)
    if desired.strategy == SPREAD and not desired.mixed:
        late = (messages.spread_by_card(version),) if desired.by_resource else ()
        return Packing(spreading=weights.SPREADING, notices=(messages.SPREAD_ONLY, *late))
    return _packed(cluster, desired, options, version, rivals)


def _packed(
    cluster: Cluster,
    desired: DesiredPlacement,
    options: VolcanoOptions,
    version: Version,
    rivals: Mapping[str, int],
) -> Packing:
    """Packing by plugin binpack, in which resources to spread have no weight."""
    listed = {*desired.weights, "cpu", "memory", *pool_capacity.cards_per_node(cluster)}
    spread = sorted(name for name in listed if desired.strategy_of(name) == SPREAD)
    without = options._replace(resources={**dict.fromkeys(spread, 0), **options.resources})
    made = _with_plugin(cluster, desired, without, rivals, BINPACK_PLUGIN)
    notices = (messages.not_spread(spread, version),) if spread else ()
    return made._replace(notices=(*notices, *made.notices))


def _with_plugin(
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
    for strategy, opening in ((BINPACK, messages.PACKING), (SPREAD, messages.SPREADING)):
        shown = [step for step in counted if strategies[step.resource] == strategy and weight]
        lines = [line for step in shown for line in messages.packing(step, weight, total, plugin)]
        comments += [opening, *lines] if lines else []
    if comments:
        comments.append(messages.rivals(dict(rivals)))
    return Packing(
        plugin, weight, resources, strategies, comments=tuple(comments), notices=(*notices, *unpacked)
    )


def _steps(cluster: Cluster, stated: Mapping[str, int]) -> tuple[list[Step], dict[str, int], list[str]]:
    sizes = pool_capacity.cards_per_node(cluster)
    resources = {"cpu": 1, "memory": 1, **{name: stated[name] for name in sorted(stated)}}
    fill = sum(weight for resource, weight in resources.items() if resource not in sizes)
    steps: list[Step] = []
    notices: list[str] = []
    for resource, found in sizes.items():
        known = pool_capacity.assumed(found)
        if 0 in found:
            notices.append(messages.unknown_size(resource, pool_capacity.ASSUMED_CARDS))
        if len(known) > 1:
            notices.append(messages.mixed_sizes(resource, known))
        cards = weights.common_multiple(known)
        weight = resources.setdefault(resource, weights.card_weight(cards, fill))
        steps.append(Step(resource, cards, weight, fill))
    return steps, resources, notices


def _plugin_weight(
    steps: Sequence[Step], wanted: int | None, total: int, rivals: Mapping[str, int]
) -> tuple[int, list[str]]:
    if wanted == 0:
        return 0, [messages.OFF]
    notices = [messages.too_light(step) for step in steps if step.lead <= 0]
    needed = max((_needed(step, total) for step in steps), default=1)
    if wanted is None:
        if needed > weights.LARGEST:
            notices.append(messages.too_heavy(needed))
        return min(needed, weights.LARGEST), notices
    if wanted < needed:
        notices.append(messages.too_low(wanted, needed, rivals))
    return wanted, notices


def _needed(step: Step, rivals: int) -> int:
    """The smallest sufficient weight; with a card's weight too low, only for equal use of cpu and memory."""
    exact = weights.packing_weight(step, rivals)
    return exact if exact is not None else weights.even_packing_weight(step, rivals)
