"""What the configuration does not do for this policy, and what comes nearest."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from policykit.model.cluster import Cluster
from policykit.model.queue import Queue
from policykit.model.workload import WorkloadKind
from policykit.targets.volcano.scheduler import closeness
from policykit.targets.volcano.scheduler.actions import RECLAIMING
from policykit.targets.volcano.scheduler.config import Configuration, Plugin
from policykit.targets.volcano.scheduler.options import PluginOption, Stated

_ENQUEUED = ("overcommit", "resourcequota")
"""Plugins that judge in action enqueue only."""
_FILTERS = ("gang", "pdb", "cdp")
"""Plugins that take victims away from those that others chose."""


def losses(
    cluster: Cluster,
    made: Configuration,
    kinds: Sequence[WorkloadKind],
    written: Sequence[Queue],
    stated: Stated,
) -> Iterator[str]:
    """Notices about the configuration, in a fixed order."""
    yield from _shares(made, written)
    yield from _evictions(made, kinds)
    yield from _idle(made, stated)
    yield from _waiting(cluster, made, kinds, stated)
    yield from _reserved(cluster, kinds)


def _shares(made: Configuration, written: Sequence[Queue]) -> Iterator[str]:
    """What the plugin that shares among queues does not do."""
    if not made.plugin("capacity"):
        if made.plugin("proportion") and any(queue.deserved for queue in written):
            yield (
                "plugin proportion shares by weight: what queues deserve has no effect, and a queue tree "
                "neither"
            )
        return
    weighted = sorted(queue.name for queue in written if queue.weight != 1)
    if weighted:
        yield (
            "plugin capacity shares by deserved and guarantee, "
            f"so the weight of queue {', '.join(weighted)} has no effect"
        )
    if not any(name in made.actions for name in RECLAIMING):
        yield (
            "action reclaim is not in the configuration: what a queue deserves and has lent comes back only "
            "when the borrowing pods end"
        )


def _evictions(made: Configuration, kinds: Sequence[WorkloadKind]) -> Iterator[str]:
    evicting = [name for name in ("reclaim", "preempt") if name in made.actions]
    gang = made.plugin("gang")
    flags = {"reclaim": "enableReclaimable", "preempt": "enablePreemptable"}
    unguarded = [name for name in evicting if gang and not gang.on(flags[name])]
    if unguarded and (not kinds or any(kind.gang != "none" for kind in kinds)):
        yield (
            f"action {' and '.join(unguarded)} may take single pods of a gang, which then runs with fewer "
            "than its "
            "size or restarts, as its own policies say: with the gang's guard no full gang could be "
            "touched at "
            "all. To keep gangs whole, set the gang flags enablePreemptable and enableReclaimable to true in "
            "targets.volcano.plugins, or use gangpreempt and gangreclaim (1.15, alpha)"
        )
    guarding = [
        name
        for name in _FILTERS
        if evicting and (plugin := made.plugin(name)) and any(plugin.on(flags[action]) for action in evicting)
    ]
    if len(guarding) > 1:
        yield (
            f"plugins {', '.join(guarding)} all protect pods from eviction: where one of them rejects every "
            "victim "
            "left by the others, Volcano asks the next one afresh, so a pod may be evicted against one of "
            "them"
        )
    close = closeness.asking(kinds)
    if close and "preempt" in made.actions:
        yield (
            f"action preempt makes no room for jobs of {', '.join(kind.name for kind in close)}: it passes "
            "over "
            "those that state a topology"
        )


def _idle(made: Configuration, stated: Stated) -> Iterator[str]:
    """Options without effect."""
    if "enqueue" not in made.actions:
        idle = [name for name in _ENQUEUED if stated.wants(name)]
        if idle:
            yield (
                f"plugin {', '.join(idle)} judges in action enqueue only, which the configuration leaves out"
            )
    unused = [name for name in made.configurations if name not in made.actions]
    if unused:
        yield f"configurations of {', '.join(unused)} have no effect: the action is not in the configuration"


def replaced(computed: Sequence[Plugin], stated: Stated) -> Iterator[str]:
    """Weights of the policy's own that the arithmetic in the comments does not know."""
    for plugin in computed:
        option = stated.plugins.get(plugin.name, PluginOption())
        changed = [key for key, value in option.arguments.items() if plugin.arguments.get(key) != value]
        if changed or not option.enabled:
            what = ", ".join(changed) if changed else "its absence"
            yield (
                f"plugin {plugin.name}: {what} in targets.volcano.plugins replaces what is computed, so "
                "what the "
                "comments say of the scores may not hold"
            )


def _waiting(
    cluster: Cluster, made: Configuration, kinds: Sequence[WorkloadKind], stated: Stated
) -> Iterator[str]:
    growing = [pool.name for pool in cluster.pools if pool.autoscaled]
    asking = stated.actions is not None or any(kind.gang_rule or kind.autoscaling for kind in kinds)
    if growing and asking and "enqueue" in made.actions:
        yield (
            f"pool {', '.join(growing)} grows when pods are pending, but action enqueue lets no job in, and "
            "so "
            "no pod be made, for which the nodes there are do not suffice. Set targets.volcano.actions to "
            "allocate, backfill where new nodes should come for waiting jobs"
        )


def _reserved(cluster: Cluster, kinds: Sequence[WorkloadKind]) -> Iterator[str]:
    ours = {kind.name for kind in kinds} | (set() if "koordinator" in cluster.targets else {""})
    lost = [each.name for each in cluster.reservations if each.workload in ours]
    if lost:
        yield (
            f"reservation {', '.join(lost)} is not kept: Volcano holds no place free for pods to come. "
            "Nearest: guarantee of the tenant's queue, with reclaim"
        )
