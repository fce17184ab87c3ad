"""Validates a scheduler configuration, generated or written by hand.

Sources: `framework/session_plugins.go`, `framework/framework.go` and the plugins (1.8 to 1.15).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from policykit.manifests.problem import Problem
from policykit.model.severity import Severity
from policykit.targets.volcano.scheduler.actions import ACTIONS, is_on
from policykit.targets.volcano.scheduler.configuration import Configuration, Plugin
from policykit.targets.volcano.scheduler.opposing_scores import opposing_scores
from policykit.targets.volcano.scheduler.plugins import MEASURED, PLUGINS, PREEMPTABLE, RECLAIMABLE, SHUFFLED

PREEMPTING, RECLAIMING = ("preempt", "gangpreempt"), ("reclaim", "gangreclaim")
HELD_BACK = ("preempt", "reclaim")
"""Actions that see only jobs which enqueue has admitted."""
SHARING = ("capacity", "proportion")
"""Plugins that share among queues."""
VICTIM_FLAGS = {"preempt": "enablePreemptable", "reclaim": "enableReclaimable"}
_BY_POD, _BY_GANG = ("preempt", "reclaim"), ("gangpreempt", "gangreclaim")
_VERBS = {"preempt": "extender.preemptableVerb", "reclaim": "extender.reclaimableVerb"}
_WHOLE = 4
_STARVING = ("gang", "priority", "tdm")
"""Plugins that detect starving jobs."""
_DEVICE_MODES = tuple(f"deviceshare.{name}" for name in ("VGPUEnable", "GPUSharingEnable", "GPUNumberEnable"))


def conflicts(made: Configuration) -> Iterator[Problem]:
    """Parts that conflict, reported at the second of each pair."""
    yield from _queue_sharing(made)
    yield from device_modes(made)
    yield from eviction_styles(made.actions)
    yield from _duplicates(made)


def _queue_sharing(made: Configuration) -> Iterator[Problem]:
    sharing = [plugin for plugin in made.plugins if plugin.name in SHARING]
    other = next((plugin for plugin in sharing if plugin.name != sharing[0].name), None)
    if other:
        yield Problem(
            (*other.path, "name"),
            f"plugins {sharing[0].name} and {other.name} both limit queues",
            "keep capacity for deserved, guarantee and queue trees, or proportion for weights",
        )
    for tier in made.tiers:
        for drf in tier:
            hierarchical = drf.name == "drf" and drf.on("enableHierarchy")
            if hierarchical and any(plugin.name == "proportion" for plugin in tier):
                yield Problem(
                    (*drf.path, "enableHierarchy"),
                    "plugin drf with enableHierarchy shares a tier with proportion: the scheduler discards "
                    "the whole file",
                    "remove proportion, or enableHierarchy from drf",
                    key=True,
                )


def device_modes(made: Configuration) -> Iterator[Problem]:
    """Reports several modes of card sharing: the scheduler accepts only one."""
    for plugin in made.plugins:
        on = [key for key, value in plugin.arguments.items() if key in _DEVICE_MODES and is_on(value)]
        for key in on[1:] if plugin.name == "deviceshare" else ():
            yield Problem(
                (*plugin.path, "arguments", key),
                f"{on[0]} and {key} are both true: the scheduler exits",
                "keep the one that your device plugin supports",
                key=True,
            )


def eviction_styles(actions: Sequence[str]) -> Iterator[Problem]:
    """Reports actions that evict whole gangs together with actions that evict single pods."""
    by_pod = [name for name in _BY_POD if name in actions]
    by_gang = [name for name in _BY_GANG if name in actions]
    if by_pod and by_gang:
        yield Problem(
            ("actions", actions.index(by_gang[0])),
            f"actions {' and '.join(by_gang)} conflict with {' and '.join(by_pod)}: both evict, by different "
            "rules",
            "keep preempt and reclaim, or gangpreempt and gangreclaim",
        )


def _duplicates(made: Configuration) -> Iterator[Problem]:
    seen: set[str] = set()
    for plugin in made.plugins:
        if plugin.name in seen:
            yield Problem(
                (*plugin.path, "name"),
                f"plugin {plugin.name} is listed twice: both use the last arguments, and its score counts "
                "twice",
                "list it once",
                Severity.WARNING,
            )
        seen.add(plugin.name)


def blocked_by_enqueue(actions: Sequence[str], held: Sequence[str] = HELD_BACK) -> Iterator[Problem]:
    """Reports action enqueue before actions that evict for jobs which enqueue does not admit."""
    listed = [name for name in held if name in actions]
    if "enqueue" in actions and listed:
        verb = "make" if len(listed) > 1 else "makes"
        yield Problem(
            ("actions", actions.index("enqueue")),
            f"action enqueue admits only jobs that fit, so {' and '.join(listed)} never {verb} any room",
            "remove enqueue: allocate then admits jobs itself",
        )


def unplaced_pods(actions: Sequence[str]) -> Iterator[Problem]:
    """Reports missing actions without which pods are never placed."""
    if "allocate" not in actions:
        message = "the actions do not include allocate: pods that request resources are never placed"
        yield Problem(("actions",), message, "add allocate")
    elif "backfill" not in actions:
        yield Problem(
            ("actions",),
            "the actions do not include backfill: pods that request nothing stay pending forever",
            "add backfill if there are such pods",
            Severity.INFO,
        )


def unfiltered_nodes(made: Configuration) -> Iterator[Problem]:
    """No plugin that filters nodes: an extender may, and plugins from outside the tree.

    A file of fewer plugins is an excerpt, or a test of one of them.

    Source: `predicates` is the only plugin of the tree that honours taints, affinity and ports (1.15).
    """
    names = {plugin.name for plugin in made.plugins}
    if len(names) >= _WHOLE and names.isdisjoint(("extender", "predicates")) and names.issubset(PLUGINS):
        yield Problem(
            ("tiers",),
            "plugin predicates is not listed: taints, node selectors and affinity are not checked, "
            "and the kubelet refuses the pods that land wrong",
            "add predicates to the second tier",
            key=True,
        )


def missing_parts(made: Configuration) -> Iterator[Problem]:
    """Reports plugins without the action they need, and settings of actions that are not listed."""
    for plugin in made.plugins:
        if plugin.name in SHUFFLED and "shuffle" not in made.actions:
            yield Problem(
                (*plugin.path, "name"),
                f"plugin {plugin.name} selects pods to evict, but only action shuffle evicts them",
                "add shuffle to the actions",
            )
    for name in made.configurations:
        if name in ACTIONS and name not in made.actions:
            yield Problem(
                ("configurations", name),
                f"configurations of action {name} have no effect: the actions do not include it",
                f"add {name} to the actions, or remove its configuration",
                Severity.WARNING,
            )


def unreclaimed_loans(made: Configuration) -> Iterator[Problem]:
    """Reports queues that lend resources which no action reclaims."""
    capacity = made.plugin("capacity")
    if capacity and not any(name in made.actions for name in RECLAIMING):
        yield Problem(
            (*capacity.path, "name"),
            "plugin capacity without action reclaim: what a queue has lent returns only when the borrowing "
            "pods end",
            "add reclaim to get it back sooner",
            Severity.INFO,
        )


def missing_metrics(made: Configuration) -> Iterator[Problem]:
    """Reports plugins that need the load of nodes without a source for it."""
    for plugin in made.plugins if not made.metrics else ():
        if plugin.name in MEASURED:
            yield Problem(
                (*plugin.path, "name"),
                f"plugin {plugin.name} needs the load of nodes, but no metrics are configured",
                "set metrics, with type and address",
            )


def idle_evictions(made: Configuration) -> Iterator[Problem]:
    """Reports actions preempt and reclaim if they find no pods to evict, or the wrong ones."""
    for action in VICTIM_FLAGS:
        if action in made.actions:
            yield from _idle_eviction(made, action)
    judged = any(made.has(name, "enableReclaimable") for name in SHARING)
    if "reclaim" in made.actions and not judged and not _extended(made, "reclaim"):
        yield Problem(
            ("actions",),
            "action reclaim needs plugin capacity or proportion to know what a queue has above its share",
            "list capacity or proportion, with enableReclaimable on",
        )
    elif "reclaim" in made.actions:
        yield from _shares_unasked(made)


def _shares_unasked(made: Configuration) -> Iterator[Problem]:
    """The first tier that names victims of reclaim decides, so the shares of queues count in no later one."""
    tiers = victim_tiers(made, "reclaim")
    at = next((n for n, tier in enumerate(tiers) if any(each.name in SHARING for each in tier)), 0)
    earlier = tuple(dict.fromkeys(each.name for tier in tiers[:at] for each in tier))
    if earlier:
        sharing = next(each for each in tiers[at] if each.name in SHARING)
        choose = "chooses" if len(earlier) == 1 else "choose"
        yield Problem(
            (*sharing.path, "name"),
            f"{', '.join(earlier)} {choose} the victims of reclaim in a tier before {sharing.name}, which is "
            "then not asked: pods of queues within their share are evicted",
            f"list {', '.join(earlier)} in the tier of {sharing.name}, or set enableReclaimable: false on "
            f"{'it' if len(earlier) == 1 else 'them'}",
        )


def _idle_eviction(made: Configuration, action: str) -> Iterator[Problem]:
    if not any(made.has(name, "enableJobStarving") for name in _STARVING):
        yield Problem(
            ("actions",),
            f"action {action} serves starving jobs, but no plugin detects them: it does nothing",
            "list gang or priority, with enableJobStarving on",
        )
        return
    tiers = victim_tiers(made, action)
    at = next((n for n, tier in enumerate(tiers) if any(each.name == "gang" for each in tier)), None)
    flag = VICTIM_FLAGS[action]
    if at is None:
        if action == "preempt":
            yield from _without_priority(tiers)
        return
    gang = next(each for each in tiers[at] if each.name == "gang")
    if at == len(tiers) - 1:
        yield Problem(
            (*gang.path, "name"),
            f"plugin gang keeps action {action} from evicting any pod of a job that needs all its pods",
            f"set {flag}: false on gang, unless only jobs that can shrink should give way",
        )
    elif action == "preempt":
        below = tiers[at + 1]
        names = ", ".join(dict.fromkeys(each.name for each in below))
        gated = any(each.name == "priority" for each in below)
        yield Problem(
            (*below[0].path, "name"),
            f"where plugin gang protects every victim of {action}, the next tier ({names}) decides alone and "
            f"breaks gangs{'' if gated else ', whatever their priority'}",
            f"set {flag}: false on {names}, or on gang",
        )


def _without_priority(tiers: Sequence[Sequence[Plugin]]) -> Iterator[Problem]:
    """Reports tiers that select victims of equal or higher priority: the first tier with victims decides."""
    if tiers and not any(each.name == "priority" for each in tiers[0]):
        yield Problem(
            (*tiers[0][0].path, "name"),
            f"plugin {tiers[0][0].name} chooses the victims of preempt in a tier without priority: jobs of "
            "equal or higher priority are evicted",
            "list priority in the same tier, with enablePreemptable on",
        )


def victim_tiers(made: Configuration, action: str) -> list[list[Plugin]]:
    """Plugins that choose the victims of an action, by tier; tiers without any are left out."""
    tiers = ([plugin for plugin in tier if _chooses(plugin, action)] for tier in made.tiers)
    return [tier for tier in tiers if tier]


def _chooses(plugin: Plugin, action: str) -> bool:
    if not plugin.on(VICTIM_FLAGS[action]):
        return False
    names = PREEMPTABLE if action == "preempt" else RECLAIMABLE
    if plugin.name == "drf" and action == "reclaim":
        return plugin.on("enableHierarchy")
    return plugin.name in names or (plugin.name == "extender" and bool(plugin.arguments.get(_VERBS[action])))


def _extended(made: Configuration, action: str) -> bool:
    """Whether plugin extender asks a server of its own for the victims."""
    return any(plugin.name == "extender" and _chooses(plugin, action) for plugin in made.plugins)


def eviction_gates(made: Configuration) -> Iterator[Problem]:
    """Reports evictions that bypass the plugin which protects pods; generated configurations have none."""
    if "preempt" in made.actions:
        gate = made.plugin("priority")
        if gate is None or not (gate.on("enablePreemptable") and gate.on("enableJobStarving")):
            yield Problem(
                ("plugins", "priority"),
                "action preempt needs plugin priority with enablePreemptable and enableJobStarving: "
                "otherwise it evicts jobs of equal or higher priority, or none",
                "keep plugin priority on, or set preemption.withinQueue to false",
            )
        yield from _outside_tier(made, "priority", "preempt")
    if "reclaim" in made.actions:
        yield from _reclaim_gates(made)
    if "gangreclaim" in made.actions:
        yield from _gang_reclaim_gates(made)


def _reclaim_gates(made: Configuration) -> Iterator[Problem]:
    sharing = next((plugin for name in SHARING if (plugin := made.plugin(name))), None)
    if sharing is None or not (sharing.on("enableReclaimable") and sharing.on("enablePreemptive")):
        yield Problem(
            ("plugins", sharing.name if sharing else ""),
            "action reclaim needs plugin capacity or proportion with enableReclaimable and enablePreemptive: "
            "otherwise it evicts pods of queues that are within their share",
            "keep the plugin that shares among queues on, or set preemption.reclaim to false",
        )
        return
    if not any(made.has(name, "enableJobStarving") for name in ("gang", "priority")):
        yield Problem(
            ("plugins",),
            "action reclaim serves starving jobs, which plugins gang and priority detect",
            "keep one of them on, with enableJobStarving",
        )
    yield from _outside_tier(made, sharing.name, "reclaim")


def _gang_reclaim_gates(made: Configuration) -> Iterator[Problem]:
    capacity = made.plugin("capacity")
    if capacity is None:
        yield Problem(
            ("actions",),
            "action gangreclaim needs plugin capacity to know the share of a queue: without it, pods of "
            "every other queue are evicted",
            "state what queues deserve, or name capacity in targets.volcano.plugins",
        )
    elif made.plugin("conformance") and made.tier("capacity") != made.tier("conformance"):
        yield Problem(
            capacity.path,
            "plugins capacity and conformance are in different tiers: the first tier that finds victims of "
            "gangreclaim decides alone",
            "set targets.volcano.plugins.capacity.tier to that of conformance",
        )


def _outside_tier(made: Configuration, gate: str, action: str) -> Iterator[Problem]:
    """Plugins that choose victims in another tier: theirs alone, past the gate, or instead of it."""
    flag = VICTIM_FLAGS[action]
    for tier in victim_tiers(made, action) if made.plugin(gate) else ():
        for plugin in tier:
            if made.tier(plugin.name) != made.tier(gate):
                yield Problem(
                    plugin.path,
                    f"plugins {plugin.name} and {gate} choose victims of {action} in different tiers: the "
                    "first tier that finds any decides alone",
                    f"set targets.volcano.plugins.{plugin.name}.flags.{flag} to false, or give both one tier",
                )


def planned_problems(made: Configuration) -> Iterator[Problem]:
    """All of a configuration that a policy makes: those without a severity keep it from working."""
    yield from unplaced_pods(made.actions)
    yield from conflicts(made)
    yield from eviction_gates(made)
    if opposing := opposing_scores(made):
        yield opposing
    yield from missing_parts(made)
    yield from unreclaimed_loans(made)
    yield from missing_metrics(made)
