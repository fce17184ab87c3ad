"""The scheduler's configuration for a policy: its actions, and its plugins in tiers."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from policykit.errors import PolicykitError
from policykit.model.cluster import Cluster, TargetSettings
from policykit.model.queue import Preemption, Queue
from policykit.model.release import Version
from policykit.model.workload import WorkloadKind
from policykit.namedtuple import NamedTuple
from policykit.targets.volcano import versions
from policykit.targets.volcano.names import TOPOLOGY_PLUGIN
from policykit.targets.volcano.objects import nodegroups, queue_admission
from policykit.targets.volcano.options import PluginOption, VolcanoOptions, volcano_options
from policykit.targets.volcano.scheduler import validator
from policykit.targets.volcano.scheduler.actions import ACTIONS
from policykit.targets.volcano.scheduler.configuration import (
    DEFAULT_ACTIONS,
    Configuration,
    Plugin,
    in_policy,
)
from policykit.targets.volcano.scheduler.notices import notices, replaced_weights
from policykit.targets.volcano.scheduler.packing import scheduled_kinds
from policykit.targets.volcano.scheduler.plugins import PLUGINS, PREEMPTABLE, SHUFFLED
from policykit.targets.volcano.scheduler.scoring import Scoring, scoring, vgpu_plugin
from policykit.targets.volcano.scheduler.validator import HELD_BACK, PREEMPTING, RECLAIMING, VICTIM_FLAGS


class Plan(NamedTuple):
    """The planned configuration, with comments and notices."""

    configuration: Configuration
    scored: Scoring
    comments: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()


def plan(cluster: Cluster, target: TargetSettings, written: Sequence[Queue], version: Version) -> Plan:
    """The configuration for a policy; `written`: its queues as they are generated.

    Raises PolicykitError for options that result in a configuration that does not work.
    """
    options = volcano_options(target)
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
    """Notices about problems with which the configuration works. Raises PolicykitError for any other."""
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
        # Queues outside the policy have no node groups, and may use the nodes without one.
        yield Plugin("nodegroup", {}, {"strict": False} if later else {})
    if options.vgpu:
        yield vgpu_plugin(cluster)


def _check_topology(made: Configuration, kinds: Sequence[WorkloadKind], version: Version) -> None:
    """Raises PolicykitError if options disable the plugin that keeps jobs within a level."""
    held = versions.enforces_tier(version)
    asking = [
        (kind.name, kind.within.level) for kind in kinds if kind.within and not (held and kind.within.hard)
    ]
    plugin = made.plugin(TOPOLOGY_PLUGIN)
    if not asking or version < versions.TOPOLOGY or (plugin and plugin.on("enabledHyperNodeGradient")):
        return
    raise PolicykitError(
        f"workload kind {asking[0][0]} must stay within one {asking[0][1]}, but targets.volcano.plugins "
        f"disables {TOPOLOGY_PLUGIN}",
        f"remove {TOPOLOGY_PLUGIN} from the plugins, or within from the workload kind",
        path=("targets", "volcano", "plugins", TOPOLOGY_PLUGIN),
    )


class Actions(NamedTuple):
    """The actions of a cycle, with comments for the file."""

    names: tuple[str, ...]
    comments: tuple[str, ...] = ()


def select_actions(preemption: Preemption, options: VolcanoOptions) -> Actions:
    """Actions for what the policy asks for.

    Raises PolicykitError if its `preemption` and its list of actions disagree.
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
    """What the tiers are built from, apart from options."""

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
    entries = _gang_last([_Entry(each.tier, _without_victims(each, plan)) for each in entries], plan)
    return tuple(
        tier for number in (1, 2) if (tier := tuple(each.plugin for each in entries if each.tier == number))
    )


def _first(plan: TierPlan) -> Iterable[_Entry]:
    yield _Entry(1, Plugin("priority"))
    # If plugin gang rejected victims, no complete gang could ever be evicted.
    flags = {"enablePreemptable": False}
    if "reclaim" in plan.actions:
        flags["enableReclaimable"] = False
    if "reclaim" in plan.actions or "preempt" in plan.actions:
        # A job whose minimum runs would get no more by reclaim and preempt: one pod of a Deployment.
        flags["enableJobStarving"] = False
    yield _Entry(1, Plugin("gang", flags))
    yield _Entry(1, Plugin("conformance"))
    if _reclaims(plan):
        # The first tier that finds victims decides, and conformance always does: in the second, the
        # plugin that knows what a queue deserves would never be asked.
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
    """The plugins with one of them disabled, changed, moved or added."""
    current = next((each for each in entries if each.plugin.name == name), None)
    if not option.enabled:
        return [each for each in entries if each is not current]
    plugin = current.plugin if current else Plugin(name)
    plugin = Plugin(name, {**plugin.flags, **option.flags}, {**plugin.arguments, **option.arguments})
    if current and option.tier in (None, current.tier):
        return [_Entry(each.tier, plugin) if each is current else each for each in entries]
    tier = option.tier or PLUGINS[name].tier
    return [*(each for each in entries if each is not current), _Entry(tier, plugin)]


def _without_victims(entry: _Entry, plan: TierPlan) -> Plugin:
    """The plugin without a say in victims if it is behind the first tier, unless the policy sets the flag."""
    plugin = entry.plugin
    others = [name for name in PREEMPTABLE if name != "priority"]
    if entry.tier == 1 or "preempt" not in plan.actions or plugin.name not in others:
        return plugin
    if "enablePreemptable" in plugin.flags:
        return plugin
    return Plugin(plugin.name, {**plugin.flags, "enablePreemptable": False}, plugin.arguments)


def _gang_last(entries: list[_Entry], plan: TierPlan) -> list[_Entry]:
    """Plugin gang last in its tier if it protects pods.

    If two plugins agree on no victim, Volcano starts over with the victims of the next one. After gang
    that would be conformance, which ignores priorities. Sources: `Preemptable` and
    `Reclaimable` in `framework/session_plugins.go` (1.8 to 1.15).
    """
    guards = [
        each
        for each in entries
        if each.plugin.name == "gang"
        and any(action in plan.actions and each.plugin.on(flag) for action, flag in VICTIM_FLAGS.items())
    ]
    return [*(each for each in entries if each not in guards), *guards]
