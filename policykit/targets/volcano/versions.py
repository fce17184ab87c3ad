"""The Volcano releases that policykit knows, and the features each added."""

from __future__ import annotations

from typing import TYPE_CHECKING

from policykit.model.release import Releases, Version, stated_release
from policykit.targets.volcano.names import SCHEDULER

if TYPE_CHECKING:
    from policykit.model.cluster import Cluster

RELEASES = Releases("Volcano", {8: 2, 9: 1, 10: 2, 11: 2, 12: 4, 13: 3, 14: 4, 15: 1})


CAPACITY = Version(1, 9, 0)
"""Plugin capacity and Queue.spec.deserved."""
NODE_GROUPS = Version(1, 9, 0)
"""Plugin nodegroup, which reads Queue.spec.affinity."""
ASSUMED_TIER = (Version(1, 12, 0), Version(1, 14, 0))
"""First release whose CRDs default highestTierAllowed to 1, and the first whose do not."""
ENFORCED_TIER = (Version(1, 12, 0), Version(1, 14, 0))
"""First release whose action allocate itself keeps jobs within their tier, and the first that leaves it to
plugin network-topology-aware."""
QUEUE_PRIORITY = Version(1, 10, 0)
CONFIG_OVERRIDE = Version(1, 10, 0)
"""Chart value custom.scheduler_config_override."""
HIERARCHY = Version(1, 11, 0)
"""Queue.spec.parent, with enableHierarchy of plugin capacity."""
TOPOLOGY = Version(1, 12, 0)
"""HyperNode, and plugin network-topology-aware."""
RESOURCE_STRATEGY = Version(1, 13, 0)
"""Plugin resource-strategy-fit."""
NODE_GROUP_TREE = Version(1, 13, 0)
"""Plugin nodegroup reads enableHierarchy and strict."""
WIDEST_SCORED = Version(1, 14, 0)
"""All nodes are one HyperNode above the others, so closeness at the widest of several levels scores; before,
it scores 0, as standing apart does."""
PREEMPT_SKIPS_TOPOLOGY = Version(1, 14, 0)
"""Action preempt skips jobs with a network topology; before, it evicts without regard to it."""
GROUP_PACKING = Version(1, 14, 0)
"""network-topology-aware packs groups of nodes, and has a flag for which plugin searches them."""
WHOLE_LISTS = (Version(1, 13, 0), Version(1, 14, 1))
"""First and last release whose webhook treats a resource missing in a queue's capability as 0."""
AGENT_SCHEDULER = Version(1, 14, 0)
"""Second scheduler, which the chart configures with the same override."""
NORMALISED_AFFINITY = Version(1, 15, 1)
"""nodeorder normalises the sums of matched preferences to 100; before, it adds them as they are."""
MPI_WORKER_OPTIONAL = Version(1, 15, 0)
"""The webhook refuses an mpi job only without the master task; before, also without the worker task."""
NODES_TO_FIND = Version(1, 15, 0)
"""Chart value custom.scheduler_percentage_nodes_to_find."""


def parse(text: str) -> Version:
    """`1.15.1`, or empty for the newest known; a release that is not known is the nearest.

    Raises PolicykitError for a text that is no release.
    """
    return RELEASES.parse(text)


def release_of(cluster: Cluster | None) -> Version | None:
    """The release that the policy states; None if it states none."""
    return stated_release(cluster, SCHEDULER, parse)


def assumes_tier(version: Version | None) -> bool:
    """Whether a hard topology without a tier means tier 1."""
    return version is not None and ASSUMED_TIER[0] <= version < ASSUMED_TIER[1]


def enforces_tier(version: Version | None) -> bool:
    """Whether jobs stay within their tier without plugin network-topology-aware."""
    return version is not None and ENFORCED_TIER[0] <= version < ENFORCED_TIER[1]


def newest() -> Version:
    return parse("")
