"""How one configuration of Volcano scores nodes: computed arguments, weights, reasons, and limits."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from policykit.model.cluster import Cluster, TargetSettings
from policykit.model.release import Version
from policykit.model.workload import BINPACK, SPREAD, WorkloadKind
from policykit.namedtuple import NamedTuple
from policykit.targets.volcano import versions
from policykit.targets.volcano.names import TOPOLOGY_PLUGIN
from policykit.targets.volcano.objects import nodegroups
from policykit.targets.volcano.options import VolcanoOptions, volcano_options
from policykit.targets.volcano.scheduler import messages, weights
from policykit.targets.volcano.scheduler.configuration import Plugin
from policykit.targets.volcano.scheduler.packing import (
    BINPACK_PLUGIN,
    FIT_PLUGIN,
    DesiredPlacement,
    Packing,
    desired_placement,
    packing,
    scheduled_kinds,
    strategy,
)


def topology_rival(weight: int) -> dict[str, int]:
    """The most points the plugin may count against others: the closest nodes score up to twice its weight.

    On a tie, the share of the job's pods on them is added.
    """
    return {f"twice {TOPOLOGY_PLUGIN}": 2 * weight} if weight else {}


def topology_kinds(kinds: Sequence[WorkloadKind]) -> list[WorkloadKind]:
    """Kinds whose jobs must stay within a level."""
    return [kind for kind in kinds if kind.within]


def scored_steps(cluster: Cluster, version: Version) -> int:
    """Steps from the narrowest level to standing apart, which share 100 points evenly.

    Before 1.14 the widest of several levels scores as standing apart does. Source: `init` and
    `scoreHyperNodeWithTier` of `plugins/network-topology-aware` (1.12 to 1.15).
    """
    return max(len(cluster.levels) - (version < versions.WIDEST_SCORED), 1)


def topology_weight(steps: int, rivals: int) -> int:
    """Smallest weight with which a node closer by one step wins by a point."""
    return weights.divided_up(steps * (100 * rivals + 1), 100)


def topology_plugin(weight: int, resources: Mapping[str, int], version: Version) -> Plugin:
    """`resources`: weights for how full a group of nodes is, as in packing."""
    arguments: dict[str, Any] = {"weight": weight}
    if version >= versions.GROUP_PACKING:
        cards = [name for name in sorted(resources) if name not in ("cpu", "memory")]
        for name in ("cpu", "memory"):
            arguments[f"hypernode.binpack.{name}"] = resources.get(name, 1)
        if cards:
            arguments["hypernode.binpack.resources"] = ", ".join(cards)
        arguments.update({f"hypernode.binpack.resources.{name}": resources[name] for name in cards})
        # With this weight it would also attract pods without a topology, against packing.
        arguments["hypernode.binpack.normal-pod.enable"] = False
    return Plugin(TOPOLOGY_PLUGIN, {}, arguments)


_TYPES = {BINPACK: "MostAllocated"}
_SPREADING = "LeastAllocated"


class Fit(NamedTuple):
    """Plugin resource-strategy-fit: resources with their strategies and weights."""

    weight: int = 0
    """Weight of packing and spreading against other scores; 0: another plugin does it, or none."""
    resources: Mapping[str, int] = {}
    """Resource to its weight."""
    strategies: Mapping[str, str] = {}
    """Resource to binpack or spread."""
    scarce: tuple[str, ...] = ()
    """Resources whose nodes are kept for pods that request them."""
    scarce_weight: int = 0

    @property
    def plugin(self) -> Plugin:
        arguments: dict[str, Any] = {"resourceStrategyFitWeight": self.weight}
        # Volcano would replace weight 0 by 1, so such a resource is not listed.
        listed = {name: weight for name, weight in sorted(self.resources.items()) if weight}
        if self.weight and listed:
            arguments["resources"] = {
                name: {"type": _TYPES.get(self.strategies[name], _SPREADING), "weight": weight}
                for name, weight in listed.items()
            }
        if self.scarce:
            arguments["sra"] = {
                "enable": True,
                "resources": ", ".join(self.scarce),
                "weight": self.scarce_weight,
                "resourceWeight": dict.fromkeys(self.scarce, 1),
            }
        return Plugin("resource-strategy-fit", {}, arguments)


def scarce_weight(resources: int, rivals: int) -> int:
    """Smallest sra weight with which a node with one of `resources` scarce resources less wins by a point.

    Each counts the same, so one is worth `100 / resources` points.
    """
    return weights.divided_up(resources * (100 * rivals + 1), 100)


_OTHER_MODES = ("GPUSharingEnable", "GPUNumberEnable")


def vgpu_plugin(cluster: Cluster) -> Plugin:
    """vGPUs packed card by card, or spread if every workload kind asks for it.

    Modes stay on when the configuration is reloaded, so those that must be off are written. With this
    weight a card that is fully in use outweighs all other scores.
    """
    kinds = cluster.workloads.values()
    spread = bool(kinds) and all(strategy(cluster, kind) == SPREAD for kind in kinds)
    arguments: dict[str, Any] = {"deviceshare.VGPUEnable": True}
    arguments.update({f"deviceshare.{name}": False for name in _OTHER_MODES})
    arguments["deviceshare.SchedulePolicy"] = "spread" if spread else "binpack"
    arguments["deviceshare.ScheduleWeight"] = sum(weights.RIVALS.values()) + 1
    return Plugin("deviceshare", {}, arguments)


class Scoring(NamedTuple):
    """The score plugins of a configuration."""

    binpack: int
    """binpack.weight; 0: the plugin is left out."""
    resources: Mapping[str, int]
    """Weights inside binpack, or inside resource-strategy-fit; cpu and memory included."""
    parts: Mapping[str, int]
    """Parts of nodeorder with their weights."""
    comments: tuple[str, ...] = ()
    """The inequalities with their numbers."""
    notices: tuple[str, ...] = ()
    fit: Fit | None = None
    """Plugin resource-strategy-fit; None: left out."""
    topology: Plugin | None = None
    """Plugin network-topology-aware; None: left out."""

    @property
    def plugins(self) -> tuple[Plugin, ...]:
        order = Plugin("nodeorder", {}, {f"{part}.weight": weight for part, weight in self.parts.items()})
        packing = (self._binpack_plugin(),) if self.binpack else ()
        fit = (self.fit.plugin,) if self.fit else ()
        return (order, *packing, *fit, *((self.topology,) if self.topology else ()))

    def _binpack_plugin(self) -> Plugin:
        named = [resource for resource in sorted(self.resources) if resource not in ("cpu", "memory")]
        arguments: dict[str, Any] = {
            "binpack.weight": self.binpack,
            "binpack.cpu": self.resources["cpu"],
            "binpack.memory": self.resources["memory"],
        }
        if named:
            arguments["binpack.resources"] = ", ".join(named)
        arguments.update({f"binpack.resources.{resource}": self.resources[resource] for resource in named})
        return Plugin("binpack", {}, arguments)


class _PluginWeight(NamedTuple):
    """Weight of a plugin that must outweigh all others so far; 0: it is left out."""

    weight: int = 0
    comments: tuple[str, ...] = ()


def scoring(cluster: Cluster, target: TargetSettings) -> Scoring:
    """Weights for the cards and workload kinds that this target's scheduler may see.

    Each outweighs all before it: default scores, packing, scarce cards, topology, preferred usages.
    Raises PolicykitError for an unknown version.
    """
    version = versions.parse(target.version)
    kinds, options = scheduled_kinds(cluster, target), volcano_options(target)
    desired = desired_placement(cluster, kinds)
    closer = topology_kinds(kinds) if version >= versions.TOPOLOGY else []
    computed = ({TOPOLOGY_PLUGIN} if closer else set()) | (
        {FIT_PLUGIN} if desired.needs_strategy_fit else set()
    )
    base = _rivals(cluster, options, version, computed)
    placed = packing(cluster, desired, options, version, base)
    rivals = {**({placed.plugin: placed.weight} if placed.plugin else {}), **base, **_on(placed.spreading)}
    avoid = desired.avoid if version >= versions.RESOURCE_STRATEGY else ()
    scarce = _scarce(avoid, rivals)
    rivals |= {"sra": scarce.weight} if scarce.weight else {}
    topology = _topology(scored_steps(cluster, version), closer, rivals)
    rivals |= topology_rival(topology.weight)
    affinity, comments, unmet = _preference(kinds, rivals, version)
    fitted = placed.plugin == FIT_PLUGIN
    return Scoring(
        placed.weight if placed.plugin == BINPACK_PLUGIN else 0,
        placed.resources,
        _parts(affinity, placed.spreading),
        (
            messages.OPENING,
            *placed.comments,
            *scarce.comments,
            *topology.comments,
            *comments,
            messages.ON_REQUEST,
            *(messages.zeros(placed.plugin) if placed.weight else ()),
        ),
        (*placed.notices, *unmet, *_notices(cluster, kinds, desired, placed, version)),
        _fit(placed if fitted else Packing(), avoid, scarce.weight),
        topology_plugin(topology.weight, placed.resources, version) if topology.weight else None,
    )


def _rivals(
    cluster: Cluster, options: VolcanoOptions, version: Version, computed: Collection[str]
) -> dict[str, int]:
    """Other plugins that score every pod, each 0 to 100 times its weight.

    `computed`: plugins whose weights are chosen so that they win.
    """
    rivals = dict(weights.RIVALS)
    if nodegroups.uses_node_groups(cluster.queues) and version >= versions.CAPACITY:
        rivals["nodegroup"] = weights.NODE_GROUPS
    for name, (argument, usual) in weights.OPTIONAL.items():
        if options.enables(name) and name not in computed:
            rivals[name] = options.plugins[name].arguments.get(argument, usual)
    if FIT_PLUGIN in rivals:
        scarce = options.plugins[FIT_PLUGIN].arguments.get("sra", {})
        rivals["sra"] = scarce.get("weight", 0) if scarce.get("enable") else 0
    rivals |= topology_rival(rivals.pop(TOPOLOGY_PLUGIN, 0))
    return {name: weight for name, weight in rivals.items() if weight}


def _on(parts: Mapping[str, int]) -> dict[str, int]:
    return {part: weight for part, weight in parts.items() if weight}


def _scarce(avoid: Sequence[str], rivals: Mapping[str, int]) -> _PluginWeight:
    if not avoid:
        return _PluginWeight()
    total = sum(rivals.values())
    weight = min(scarce_weight(len(avoid), total), weights.LARGEST)
    return _PluginWeight(weight, messages.scarce(avoid, weight, rivals))


def _topology(steps: int, kinds: Sequence[WorkloadKind], rivals: Mapping[str, int]) -> _PluginWeight:
    if not kinds:
        return _PluginWeight()
    weight = min(topology_weight(steps, sum(rivals.values())), weights.LARGEST)
    return _PluginWeight(weight, messages.near(steps, weight, rivals))


def _fit(placed: Packing, avoid: tuple[str, ...], weight: int) -> Fit | None:
    if not placed.weight and not avoid:
        return None
    return Fit(placed.weight, placed.resources, placed.strategies, avoid, weight)


def _parts(affinity: int, spreading: Mapping[str, int]) -> dict[str, int]:
    return {
        "leastrequested": spreading["leastrequested"],
        "mostrequested": 0,
        "balancedresource": spreading["balancedresource"],
        "nodeaffinity": affinity,
        **weights.ON_REQUEST,
        **weights.RIVALS,
    }


def _preference(
    kinds: Sequence[WorkloadKind], parts: Mapping[str, int], version: Version
) -> tuple[int, tuple[str, ...], list[str]]:
    """nodeaffinity.weight, the reason, and a notice for each kind it cannot serve."""
    normalised = version >= versions.NORMALISED_AFFINITY
    rivals = sum(parts.values())
    gaps = [(kind, weights.preference_gap(kind, normalised=normalised)) for kind in kinds if kind.prefer]
    gap = min((gap for _, gap in gaps), default=100)
    weight = min(weights.preference_weight(gap, rivals), weights.LARGEST)
    comments = (
        messages.PREFERENCE,
        *(() if normalised else messages.AS_WRITTEN),
        messages.preference(weight, gap, rivals),
        messages.rivals({part: value for part, value in parts.items() if value}),
    )
    notices = []
    for kind, own in gaps:
        needed = weights.preference_weight(own, rivals)
        if needed > weights.LARGEST:
            notices.append(messages.too_close(kind, own, needed, normalised=normalised))
    return weight, comments, notices


def _notices(
    cluster: Cluster,
    kinds: Sequence[WorkloadKind],
    desired: DesiredPlacement,
    placed: Packing,
    version: Version,
) -> list[str]:
    """Notices about what the policy asks for and the configuration does not do."""
    spread = [kind for kind in kinds if strategy(cluster, kind) == SPREAD]
    widest = [kind for kind in _at_the_widest(cluster, kinds) if version < versions.WIDEST_SCORED]
    soft = [pool.name for pool in cluster.pools if any(not taint.hard for taint in pool.taints)]
    weak = [kind for kind in kinds if kind.across and not kind.across.hard]
    packed = placed.weight and desired.strategy != SPREAD
    notices = [messages.spread_ignored(spread)] if spread and packed else []
    if widest and version >= versions.TOPOLOGY:
        notices.append(messages.unscored_level(widest, cluster.levels[0].name, version))
    if soft and placed.weight:
        notices.append(messages.outweighed_taints(soft))
    if weak and placed.weight:
        notices.append(messages.outweighed_spread(weak))
    if desired.others and desired.placement:
        notices.append(messages.other_placement(desired.others, desired.placement.name))
    if desired.avoid and version < versions.RESOURCE_STRATEGY:
        notices.append(messages.not_avoided(desired.avoid, version))
    shaped = sorted(
        {p.name for kind in kinds if (p := cluster.placements.get(kind.placement_name)) and p.shape}
    )
    if shaped:
        notices.append(messages.unshaped(shaped))
    return notices


def _at_the_widest(cluster: Cluster, kinds: Sequence[WorkloadKind]) -> list[WorkloadKind]:
    """Kinds that prefer to stay within the widest of several levels."""
    if len(cluster.levels) < 2:
        return []
    widest = cluster.levels[0].name
    return [kind for kind in kinds if kind.within and not kind.within.hard and kind.within.level == widest]
