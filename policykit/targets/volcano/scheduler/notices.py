"""Notices about what the configuration does not do for the policy, with the nearest alternative."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from policykit.model.cluster import Cluster
from policykit.model.queue import Queue
from policykit.model.release import Version
from policykit.model.workload import WorkloadKind
from policykit.targets import TARGETS
from policykit.targets.volcano import versions
from policykit.targets.volcano.options import PluginOption, VolcanoOptions
from policykit.targets.volcano.scheduler.configuration import Configuration, Plugin
from policykit.targets.volcano.scheduler.scoring import topology_kinds
from policykit.targets.volcano.scheduler.validator import VICTIM_FLAGS

_ENQUEUED = ("overcommit", "resourcequota")
"""Plugins that act only in action enqueue."""
_FILTERS = ("gang", "pdb", "cdp")
"""Plugins that reject victims chosen by others."""


def notices(
    cluster: Cluster,
    made: Configuration,
    kinds: Sequence[WorkloadKind],
    written: Sequence[Queue],
    options: VolcanoOptions,
    version: Version,
) -> Iterator[str]:
    """Notices about a generated configuration, in a fixed order."""
    yield from _shares(made, written)
    yield from _evictions(made, kinds)
    if "preempt" in made.actions:
        yield from _preempting_for_topology(topology_kinds(kinds), version)
    yield from _without_enqueue(made, options)
    yield from _autoscaling(cluster, made, kinds, options)
    yield from _reservations(cluster, kinds)


def _shares(made: Configuration, written: Sequence[Queue]) -> Iterator[str]:
    """Notices about the plugin that shares resources among queues."""
    weighted = sorted(queue.name for queue in written if queue.weight != 1)
    if made.plugin("capacity"):
        if weighted:
            yield (
                "plugin capacity shares by deserved and guarantee, "
                f"so the weight of queue {', '.join(weighted)} has no effect"
            )
    elif made.plugin("proportion") and any(queue.deserved for queue in written):
        yield "plugin proportion shares by weight: deserved amounts and queue trees have no effect"


def _evictions(made: Configuration, kinds: Sequence[WorkloadKind]) -> Iterator[str]:
    evicting = [name for name in ("reclaim", "preempt") if name in made.actions]
    gang = made.plugin("gang")
    unguarded = [name for name in evicting if gang and not gang.on(VICTIM_FLAGS[name])]
    if unguarded and (not kinds or any(kind.gang != "none" for kind in kinds)):
        yield (
            f"action {' and '.join(unguarded)} may evict single pods of a gang, which then runs with fewer "
            "pods or restarts, depending on its own policies: if plugin gang guarded them, no complete "
            "gang could be evicted at all. To keep gangs complete, set the gang flags enablePreemptable "
            "and enableReclaimable to true in targets.volcano.plugins, or use gangpreempt and gangreclaim "
            "(1.15, alpha)"
        )
    guarding = [
        name
        for name in _FILTERS
        if (plugin := made.plugin(name)) and any(plugin.on(VICTIM_FLAGS[action]) for action in evicting)
    ]
    if len(guarding) > 1:
        yield (
            f"plugins {', '.join(guarding)} all protect pods from eviction: if one of them rejects every "
            "victim left by the others, Volcano starts over with the next one, so a pod may be evicted "
            "although one of them protects it"
        )


def _preempting_for_topology(kinds: Sequence[WorkloadKind], version: Version) -> Iterator[str]:
    """What action preempt does with jobs that are to stay within a level."""
    names = ", ".join(kind.name for kind in kinds)
    if not kinds or version < versions.TOPOLOGY:
        return
    if version >= versions.PREEMPT_SKIPS_TOPOLOGY:
        yield f"action preempt makes no room for jobs of {names}: it skips jobs with a network topology"
    else:
        yield (
            f"action preempt of Volcano {version} evicts pods for jobs of {names} without regard to their "
            "network topology: the room it makes may be too far apart for them. Since "
            f"{versions.PREEMPT_SKIPS_TOPOLOGY} it skips them"
        )


def _without_enqueue(made: Configuration, options: VolcanoOptions) -> Iterator[str]:
    idle = [name for name in _ENQUEUED if options.enables(name)]
    if idle and "enqueue" not in made.actions:
        yield f"plugin {', '.join(idle)} acts only in action enqueue, which the configuration leaves out"


def replaced_weights(computed: Sequence[Plugin], options: VolcanoOptions) -> Iterator[str]:
    """Weights that the policy overrides, so that the arithmetic in the comments no longer holds."""
    for plugin in computed:
        option = options.plugins.get(plugin.name, PluginOption())
        changed = [key for key, value in option.arguments.items() if plugin.arguments.get(key) != value]
        if changed or not option.enabled:
            what = f"sets {', '.join(changed)}" if changed else "disables it"
            yield (
                f"plugin {plugin.name}: targets.volcano.plugins {what}, so what the comments say about the "
                "scores may not hold"
            )


def _autoscaling(
    cluster: Cluster, made: Configuration, kinds: Sequence[WorkloadKind], options: VolcanoOptions
) -> Iterator[str]:
    growing = [pool.name for pool in cluster.pools if pool.autoscaled]
    asking = options.actions is not None or any(kind.gang_rule or kind.autoscaling for kind in kinds)
    if growing and asking and "enqueue" in made.actions:
        yield (
            f"pool {', '.join(growing)} grows when pods are pending, but action enqueue admits no job, and "
            "so creates no pods, that the existing nodes cannot hold. Set targets.volcano.actions to "
            "allocate, backfill if waiting jobs should bring new nodes"
        )


def _reservations(cluster: Cluster, kinds: Sequence[WorkloadKind]) -> Iterator[str]:
    kept_elsewhere = any(
        target.supports_reservations and target.name in cluster.targets for target in TARGETS
    )
    ours = {kind.name for kind in kinds} | (set() if kept_elsewhere else {""})
    lost = [each.name for each in cluster.reservations if each.workload in ours]
    if lost:
        yield (
            f"reservation {', '.join(lost)} has no effect: Volcano cannot reserve capacity for future pods. "
            "Nearest: a guarantee on the tenant's queue, with reclaim"
        )
