"""The scheduler's configuration for a policy: its actions, and its plugins in tiers."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

from policykit.catalogue.volcano import validator
from policykit.catalogue.volcano.actions import ACTIONS
from policykit.catalogue.volcano.configuration import DEFAULT_ACTIONS, Configuration, Plugin, in_policy
from policykit.catalogue.volcano.plugins import PLUGINS, PREEMPTABLE, SHUFFLED
from policykit.catalogue.volcano.validator import HELD_BACK, PREEMPTING, RECLAIMING, VICTIM_FLAGS
from policykit.errors import PolicykitError
from policykit.model.cluster import Cluster, TargetSettings
from policykit.model.queue import Preemption, Queue
from policykit.model.release import Version
from policykit.model.workload import WorkloadKind
from policykit.targets.volcano import versions
from policykit.targets.volcano.names import TOPOLOGY_PLUGIN
from policykit.targets.volcano.objects import nodegroups, queue_admission
from policykit.targets.volcano.options import PluginOption, VolcanoOptions, of
from policykit.targets.volcano.scheduler.notices import notices, replaced_weights
from policykit.targets.volcano.scheduler.packing import scheduled_kinds
from policykit.targets.volcano.scheduler.plugins import vgpu_plugin
from policykit.targets.volcano.scheduler.scoring import Scoring, scoring


class Plan(NamedTuple):
    """What the scheduler is configured with."""

    configuration: Configuration
    scored: Scoring
    comments: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()


def plan(cluster: Cluster, target: TargetSettings, written: Sequence[Queue], version: Version) -> Plan:
    """The configuration for the queues as they are written.

    Raises PolicykitError for options that force a configuration which does not work.
    """
    options = of(target)
    kinds = scheduled_kinds(cluster, target)
    scored = scoring(cluster, target)
    actions = select_actions(cluster.preemption, options)
    sharing = _sharing(written, options, version)
    planned = TierPlan(actions.names, sharing, (*_filters(cluster, options, version), *scored.plugins))
    made = Configuration(actions.names, tiers(planned, options), options.metrics, options.configurations)
    remarks = _validate(made)
    _check_topology(made, kinds, version)
    messages = (
        *remarks,
        *replaced_weights(scored.plugins, options),
        *notices(cluster, made, kinds, written, options, version),
    )
    return Plan(made, scored, (*scored.comments, *actions.comments), messages)


def _validate(made: Configuration) -> tuple[str, ...]:
    """Problems that leave the configuration working. Raises PolicykitError for any other."""
    found = list(validator.planned_problems(in_policy(made)))
    for problem in found:
        if problem.severity is None:
            raise PolicykitError(problem.message, problem.help, path=("targets", "volcano", *problem.path))
    return tuple(problem.message for problem in found)


def _sharing(written: Sequence[Queue], options: VolcanoOptions, version: Version) -> Plugin:
    """proportion or capacity, never both: each would apply its own limits."""
    tree = version >= versions.HIERARCHY and queue_admission.hierarchical(written)
    capacity = Plugin("capacity", {"enableHierarchy": True} if tree else {})
    if options.enables("capacity"):
        return capacity
    if options.enables("proportion") or options.disables("capacity") or version < versions.CAPACITY:
        return Plugin("proportion")
    return capacity if queue_admission.shared_by_capacity(written) else Plugin("proportion")


def _filters(cluster: Cluster, options: VolcanoOptions, version: Version) -> Iterator[Plugin]:
    if nodegroups.uses_node_groups(cluster.queues) and version >= versions.CAPACITY:
        later = version >= versions.NODE_GROUP_TREE
        # Queues outside the policy have no node groups: they keep the nodes that are in none.
        yield Plugin("nodegroup", {}, {"strict": False} if later else {})
    if options.vgpu:
        yield vgpu_plugin(cluster)


def _check_topology(made: Configuration, kinds: Sequence[WorkloadKind], version: Version) -> None:
    """Raises PolicykitError where options switch off what keeps jobs within a level."""
    held = versions.enforces_tier(version)
    asking = [
        (kind.name, kind.within.level) for kind in kinds if kind.within and not (held and kind.within.hard)
    ]
    plugin = made.plugin(TOPOLOGY_PLUGIN)
    if not asking or version < versions.TOPOLOGY or (plugin and plugin.on("enabledHyperNodeGradient")):
        return
    raise PolicykitError(
        f"workload kind {asking[0][0]} is to stay within one {asking[0][1]}, but targets.volcano.plugins "
        f"switches off {TOPOLOGY_PLUGIN}",
        f"remove {TOPOLOGY_PLUGIN} from the plugins, or within from the workload kind",
        path=("targets", "volcano", "plugins", TOPOLOGY_PLUGIN),
    )


class Actions(NamedTuple):
    """The actions of a cycle, with comments for the file."""

    names: tuple[str, ...]
    comments: tuple[str, ...] = ()


def select_actions(preemption: Preemption, options: VolcanoOptions) -> Actions:
    """Actions for what the policy asks for.

    Raises PolicykitError where its `preemption` and its own list of actions disagree.
    """
    if options.actions is not None:
        _check_preemption(preemption, options.actions)
        return Actions(in_order(options.actions))
    names = set(DEFAULT_ACTIONS)
    names |= {"preempt"} if preemption.within_queue else set()
    names |= {"reclaim"} if preemption.reclaim else set()
    names |= {"shuffle"} if any(map(options.enables, SHUFFLED)) else set()
    held = [name for name in HELD_BACK if name in names]
    if not held:
        return Actions(in_order(names))
    return Actions(in_order(names - {"enqueue"}), _without_enqueue(held))


def in_order(names: Collection[str]) -> tuple[str, ...]:
    """Actions in the order a cycle should run them."""
    return tuple(name for name in ACTIONS if name in names)


def _without_enqueue(held: list[str]) -> tuple[str, ...]:
    return (
        f"enqueue is left out: {' and '.join(held)} cannot help jobs it does not admit.",
        "So every waiting job has its pods, a cluster autoscaler sees them, and",
        "overcommit and resourcequota, which act in enqueue, hold back none.",
    )


def _check_preemption(preemption: Preemption, names: Collection[str]) -> None:
    _check("preemption.withinQueue", preemption.within_queue, PREEMPTING, names)
    _check("preemption.reclaim", preemption.reclaim, RECLAIMING, names)


def _check(key: str, wanted: bool | None, able: tuple[str, ...], names: Collection[str]) -> None:
    listed = [name for name in able if name in names]
    if wanted and not listed:
        raise PolicykitError(
            f"{key} is true, but targets.volcano.actions lists neither {' nor '.join(able)}",
            f"add {able[0]} to the actions and remove enqueue, or leave the actions out",
            path=("targets", "volcano", "actions"),
        )
    if wanted is False and listed:
        raise PolicykitError(
            f"{key} is false, but targets.volcano.actions lists {listed[0]}",
            f"remove {listed[0]} from the actions, or leave {key} out",
            path=("targets", "volcano", "actions"),
        )


Tiers = tuple[tuple[Plugin, ...], ...]


class TierPlan(NamedTuple):
    """What the tiers are made from, options apart."""

    actions: tuple[str, ...]
    sharing: Plugin
    """proportion or capacity."""
    scoring: Sequence[Plugin] = ()
    """Filters and scores, in order."""


class _Entry(NamedTuple):
    tier: int
    plugin: Plugin


def tiers(plan: TierPlan, options: VolcanoOptions) -> Tiers:
    """The tiers of the configuration; an empty one is left out."""
    entries = [*_first(plan), *_second(plan)]
    for name, option in options.plugins.items():
        entries = _changed(entries, name, option)
    entries = _gang_last([_Entry(each.tier, _harmless(each, plan)) for each in entries], plan)
    return tuple(
        tier for number in (1, 2) if (tier := tuple(each.plugin for each in entries if each.tier == number))
    )


def _first(plan: TierPlan) -> Iterable[_Entry]:
    yield _Entry(1, Plugin("priority"))
    # If plugin gang vetoed victims, no complete gang could ever be evicted.
    flags = {"enablePreemptable": False}
    if "reclaim" in plan.actions:
        flags["enableReclaimable"] = False
    yield _Entry(1, Plugin("gang", flags))
    yield _Entry(1, Plugin("conformance"))
    if _reclaims(plan):
        # The first tier with victims decides, and conformance has some: from the second the
        # plugin that knows what a queue deserves would not be asked.
        yield _Entry(1, plan.sharing)


def _reclaims(plan: TierPlan) -> bool:
    return any(name in plan.actions for name in RECLAIMING)


def _second(plan: TierPlan) -> Iterable[_Entry]:
    if "enqueue" in plan.actions:
        yield _Entry(2, Plugin("overcommit"))
    yield _Entry(2, Plugin("drf", {"enablePreemptable": False}))
    yield _Entry(2, Plugin("predicates"))
    if not _reclaims(plan):
        yield _Entry(2, plan.sharing)
    yield from (_Entry(2, plugin) for plugin in plan.scoring)


def _changed(entries: list[_Entry], name: str, option: PluginOption) -> list[_Entry]:
    """The plugins with one of them switched off, changed, moved or added."""
    current = next((each for each in entries if each.plugin.name == name), None)
    if not option.enabled:
        return [each for each in entries if each is not current]
    plugin = current.plugin if current else Plugin(name)
    plugin = Plugin(name, {**plugin.flags, **option.flags}, {**plugin.arguments, **option.arguments})
    if current and option.tier in (None, current.tier):
        return [_Entry(each.tier, plugin) if each is current else each for each in entries]
    tier = option.tier or PLUGINS[name].tier
    return [*(each for each in entries if each is not current), _Entry(tier, plugin)]


def _harmless(entry: _Entry, plan: TierPlan) -> Plugin:
    """No plugin behind the first tier chooses victims where actions do, unless the policy says so."""
    plugin = entry.plugin
    others = [name for name in PREEMPTABLE if name != "priority"]
    if entry.tier == 1 or "preempt" not in plan.actions or plugin.name not in others:
        return plugin
    if "enablePreemptable" in plugin.flags:
        return plugin
    return Plugin(plugin.name, {**plugin.flags, "enablePreemptable": False}, plugin.arguments)


def _gang_last(entries: list[_Entry], plan: TierPlan) -> list[_Entry]:
    """Plugin gang is last in its tier where it guards pods.

    Where two plugins agree on no victim, Volcano starts over with the victims of the next one: after
    the gang that would be conformance, which knows no priority. Sources: `Preemptable` and
    `Reclaimable` in `framework/session_plugins.go` (1.8 to 1.15).
    """
    guards = [
        each
        for each in entries
        if each.plugin.name == "gang"
        and any(action in plan.actions and each.plugin.on(flag) for action, flag in VICTIM_FLAGS.items())
    ]
    return [*(each for each in entries if each not in guards), *guards]
