"""The Volcano releases that policykit knows, the features each added, and their names in messages."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from policykit.manifests.memoize import memoize_last
from policykit.model.release import Releases, Version, stated_release
from policykit.nearest import nearest
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
WEIGHTS_BOUNDED = Version(1, 12, 0)
"""The CRD takes weights of queues from 1 to 65535 (the webhook writes 1 for 0); before, any above 0."""
PRIORITY_BOUNDED = Version(1, 14, 0)
"""The CRD takes no priority of a queue below 0."""
AMOUNTS_COMPARED = Version(1, 13, 0)
"""The webhook refuses a queue whose guarantee exceeds deserved, or that one capability."""
AMOUNTS_CHECKED = Version(1, 14, 0)
"""The webhook refuses amounts below 0, parts of a card, and a guarantee where nothing is deserved."""
WHOLE_DESERVED = (Version(1, 10, 0), Version(1, 14, 0))
"""Releases, without the last, in which a queue reclaims only within deserved of all that a pod requests."""
WHOLE_LISTS = (Version(1, 13, 0), Version(1, 14, 1))
"""First and last release whose webhook treats a resource missing in a queue's capability as 0."""
PARENT_LIMITS_WHOLE = Version(1, 14, 0)
"""While `WHOLE_LISTS` hold: a parent's capability must also have every resource that a child's has."""
TREE_CHECKED = Version(1, 14, 0)
"""The webhook compares queues with their parents; before, plugin capacity then fails for the whole tree."""
ROOT_UNLIMITED = Version(1, 15, 0)
"""The root of a tree of queues has no limit unless one is written; before, it has what all nodes have."""
DEPTH_CHECKED = Version(1, 14, 2)
"""The webhook limits the levels of a tree of queues."""
MEMBERS_BOUNDED = Version(1, 14, 0)
"""The CRD of PodGroups refuses a minMember below 0; before, it has no effect."""
POD_PENDING = Version(1, 11, 0)
"""Policies of jobs: event PodPending, with a timeout, and action RestartPod."""
RESTART_PARTITION = Version(1, 14, 0)
"""Policies of jobs: action RestartPartition."""
UNKNOWN_ACTIONS_SKIPPED = (Version(1, 12, 0), Version(1, 14, 0))
"""First release that passes over an unknown action and keeps the rest, and the first that again does not."""
NAMESPACE_QUEUES_OFF = Version(1, 12, 0)
"""The webhook that reads a namespace's queue is off unless the chart switches it on."""
CRON_JOBS = Version(1, 13, 0)
"""CronJob of batch.volcano.sh."""
GROUP_SIZE = Version(1, 12, 0)
"""The size of a PodGroup that the controller creates is read from the owner of the pods."""
POD_TOPOLOGY = Version(1, 13, 0)
"""The network topology of such a PodGroup is read from the pods."""
DISCOVERY = Version(1, 13, 0)
"""The controller can create HyperNodes from node labels."""
NAMED_TIERS = Version(1, 14, 0)
"""tierName of HyperNodes, highestTierName of PodGroups and Jobs."""
AGENT_SCHEDULER = Version(1, 14, 0)
"""Second scheduler, which the chart configures with the same override."""
NORMALISED_AFFINITY = Version(1, 15, 1)
"""nodeorder normalises the sums of matched preferences to 100; before, it adds them as they are."""
MPI_WORKER_OPTIONAL = Version(1, 15, 0)
"""The webhook refuses an mpi job only without the master task; before, also without the worker task."""
NODES_TO_FIND = Version(1, 15, 0)
"""Chart value custom.scheduler_percentage_nodes_to_find."""

parse = RELEASES.parse
"""`1.15.1`, or empty for the newest known; a release that is not known is the nearest.

Raises PolicykitError for a text that is not a release.
"""


@memoize_last
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


Release = tuple[int, ...]
"""(1, 13) is the first release of that minor, (1, 13, 2) a patch."""

UPGRADE = "remove it or upgrade Volcano"
EXTRA = "if your scheduler is built with it, list it in the policy under lint.extraPlugins"


def release_text(release: Release) -> str:
    return ".".join(map(str, release))


def if_unstated(have: Release | None, since: Release) -> str:
    """` since Volcano 1.14`, for a change that earlier releases do not have; empty if `have` is stated."""
    return "" if have else f" since Volcano {release_text(since[:2])}"


def not_yet(what: str, since: Release, have: Release | None) -> str:
    """The message for something a release lacks; empty if it has it. `have` None: the newest."""
    if have is None or have >= since:
        return ""
    return f"Volcano {release_text(have)} has no {what} (added in {release_text(since)})"


def suggestion(name: str, known: Iterable[str], what: str = "known names", likeness: float = 0.6) -> str:
    """A hint: the most similar known name, else all of them."""
    names = tuple(dict.fromkeys(known))
    near = nearest(name, names, likeness)
    if near:
        return f"did you mean {near}?"
    return f"{what}: {', '.join(sorted(names))}" if names else ""
