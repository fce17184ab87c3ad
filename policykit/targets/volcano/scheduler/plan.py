"""The whole scheduler configuration for a cluster, with the reasons and what it cannot do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from policykit.errors import PolicykitError
from policykit.model.cluster import Cluster, Target
from policykit.model.queue import Queue
from policykit.model.workload import WorkloadKind
from policykit.targets.release import Version
from policykit.targets.volcano import versions
from policykit.targets.volcano.objects import admission, nodegroups
from policykit.targets.volcano.scheduler import actions, closeness, conflicts, losses, options, tiers, vgpu
from policykit.targets.volcano.scheduler.config import Configuration, Plugin
from policykit.targets.volcano.scheduler.options import Stated
from policykit.targets.volcano.scheduler.scoring import Scoring, scoring
from policykit.targets.volcano.scheduler.wishes import served


class Plan(NamedTuple):
    """What the scheduler is configured with."""

    configuration: Configuration
    scored: Scoring
    comments: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()


def plan(cluster: Cluster, target: Target, written: Sequence[Queue], version: Version) -> Plan:
    """The configuration for the queues as they are written.

    Raises PolicykitError for options that Volcano would pass over, and for those that force a
    configuration which does not work.
    """
    stated = options.read(cluster, target)
    kinds = served(cluster, target)
    scored = scoring(cluster, target)
    chosen = actions.chosen(cluster.preemption, stated)
    sharing = _sharing(written, stated, version)
    asked = tiers.Asked(chosen.names, sharing, (*_filters(cluster, stated, version), *scored.plugins))
    made = Configuration(chosen.names, tiers.tiers(asked, stated), stated.metrics, stated.configurations)
    conflicts.check(made)
    _kept_close(made, kinds, version)
    notices = (
        *chosen.notices,
        *losses.replaced(scored.plugins, stated),
        *losses.losses(cluster, made, kinds, written, stated),
    )
    return Plan(made, scored, (*scored.comments, *chosen.comments), notices)


def _sharing(written: Sequence[Queue], stated: Stated, version: Version) -> Plugin:
    """proportion or capacity, never both: each would apply its own limits."""
    tree = version >= versions.HIERARCHY and admission.hierarchical(written)
    capacity = Plugin("capacity", {"enableHierarchy": True} if tree else {})
    if stated.wants("capacity") and stated.wants("proportion"):
        raise PolicykitError(
            "targets.volcano.plugins names both capacity and proportion, which both limit queues",
            "keep capacity for deserved, guarantee and queue trees, proportion for weights alone",
            path=("targets", "volcano", "plugins"),
        )
    if stated.wants("capacity"):
        return capacity
    if stated.wants("proportion") or stated.refuses("capacity") or version < versions.CAPACITY:
        return Plugin("proportion")
    return capacity if admission.shared_by_capacity(written) else Plugin("proportion")


def _filters(cluster: Cluster, stated: Stated, version: Version) -> Iterator[Plugin]:
    if nodegroups.named(cluster.queues) and version >= versions.CAPACITY:
        later = version >= versions.NODE_GROUP_TREE
        # Queues outside the policy have no node groups: they keep the nodes that are in none.
        yield Plugin("nodegroup", {}, {"strict": False} if later else {})
    if stated.vgpu:
        yield vgpu.plugin(cluster)


def _kept_close(made: Configuration, kinds: Sequence[WorkloadKind], version: Version) -> None:
    """Raises PolicykitError where options switch off what keeps jobs within a level."""
    asking = [(kind.name, kind.within.level) for kind in kinds if kind.within]
    plugin = made.plugin(closeness.NAME)
    if not asking or version < versions.TOPOLOGY or (plugin and plugin.on("enabledHyperNodeGradient")):
        return
    raise PolicykitError(
        f"workload kind {asking[0][0]} is to stay within {asking[0][1]}, "
        f"but targets.volcano.plugins switches off {closeness.NAME}, which sees to it",
        f"take {closeness.NAME} out of the plugins, or within out of the workload kind",
        path=("targets", "volcano", "plugins", closeness.NAME),
    )
