"""The configuration that a policy makes of Volcano's scheduler, for comparison with one that is there."""

from __future__ import annotations

from policykit.errors import PolicykitError
from policykit.model.cluster import Cluster
from policykit.model.workload import BINPACK, WorkloadKind
from policykit.namedtuple import NamedTuple
from policykit.targets.volcano import versions
from policykit.targets.volcano.names import SCHEDULER
from policykit.targets.volcano.objects import queue_admission
from policykit.targets.volcano.options import VolcanoOptions, volcano_options
from policykit.targets.volcano.scheduler.configuration import Configuration
from policykit.targets.volcano.scheduler.packing import scheduled_kinds, strategy
from policykit.targets.volcano.scheduler.plan import plan


class PlannedConfiguration(NamedTuple):
    """What `gen` writes, and what it is made of."""

    cluster: Cluster
    kinds: tuple[WorkloadKind, ...]
    """Those that Volcano schedules."""
    made: Configuration
    options: VolcanoOptions

    @property
    def packs(self) -> bool:
        return any(strategy(self.cluster, kind) == BINPACK for kind in self.kinds)


def planned_configuration(cluster: Cluster) -> PlannedConfiguration | None:
    """None where the policy has no Volcano, or where it cannot be generated: `gen` says why."""
    target = cluster.targets.get(SCHEDULER)
    if target is None:
        return None
    try:
        version = versions.parse(target.version)
        queues, _ = queue_admission.admitted_queues(cluster.queues, version, cluster.pools)
        made = plan(cluster, target, queues, version).configuration
        kinds = tuple(scheduled_kinds(cluster, target))
        return PlannedConfiguration(cluster, kinds, made, volcano_options(target))
    except PolicykitError:
        return None


def packed_cards(cluster: Cluster) -> tuple[str, ...]:
    """Card resources that plugin binpack has to count for the policy's workload kinds."""
    planned = planned_configuration(cluster)
    plugin = planned.made.plugin("binpack") if planned and planned.packs else None
    listed = plugin.arguments.get("binpack.resources", "") if plugin else ""
    return tuple(name for each in listed.split(",") if (name := each.strip()))
