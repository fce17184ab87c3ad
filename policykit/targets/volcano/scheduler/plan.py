"""The whole scheduler configuration for a cluster, with the reasons for it and what it cannot do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from policykit.catalogue.volcano import validator
from policykit.catalogue.volcano.configuration import Configuration, Plugin, in_policy
from policykit.errors import PolicykitError
from policykit.model.cluster import Cluster, TargetSettings
from policykit.model.queue import Queue
from policykit.model.workload import WorkloadKind
from policykit.targets.release import Version
from policykit.targets.volcano import versions
from policykit.targets.volcano.names import TOPOLOGY_PLUGIN
from policykit.targets.volcano.objects import admission, nodegroups
from policykit.targets.volcano.options import VolcanoOptions, of
from policykit.targets.volcano.scheduler.actions import select_actions
from policykit.targets.volcano.scheduler.notices import notices, replaced_weights
from policykit.targets.volcano.scheduler.placement import scheduled_kinds
from policykit.targets.volcano.scheduler.plugins import vgpu_plugin
from policykit.targets.volcano.scheduler.scoring import Scoring, scoring
from policykit.targets.volcano.scheduler.tiers import TierPlan, tiers


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
        *notices(cluster, made, kinds, written, options),
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
    tree = version >= versions.HIERARCHY and admission.hierarchical(written)
    capacity = Plugin("capacity", {"enableHierarchy": True} if tree else {})
    if options.enables("capacity"):
        return capacity
    if options.enables("proportion") or options.disables("capacity") or version < versions.CAPACITY:
        return Plugin("proportion")
    return capacity if admission.shared_by_capacity(written) else Plugin("proportion")


def _filters(cluster: Cluster, options: VolcanoOptions, version: Version) -> Iterator[Plugin]:
    if nodegroups.named(cluster.queues) and version >= versions.CAPACITY:
        later = version >= versions.NODE_GROUP_TREE
        # Queues outside the policy have no node groups: they keep the nodes that are in none.
        yield Plugin("nodegroup", {}, {"strict": False} if later else {})
    if options.vgpu:
        yield vgpu_plugin(cluster)


def _check_topology(made: Configuration, kinds: Sequence[WorkloadKind], version: Version) -> None:
    """Raises PolicykitError where options switch off what keeps jobs within a level."""
    asking = [(kind.name, kind.within.level) for kind in kinds if kind.within]
    plugin = made.plugin(TOPOLOGY_PLUGIN)
    if not asking or version < versions.TOPOLOGY or (plugin and plugin.on("enabledHyperNodeGradient")):
        return
    raise PolicykitError(
        f"workload kind {asking[0][0]} is to stay within one {asking[0][1]}, but targets.volcano.plugins "
        f"switches off {TOPOLOGY_PLUGIN}",
        f"remove {TOPOLOGY_PLUGIN} from the plugins, or within from the workload kind",
        path=("targets", "volcano", "plugins", TOPOLOGY_PLUGIN),
    )
