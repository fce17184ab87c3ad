"""The application a workload's pods belong to, and the queue it goes to."""

from __future__ import annotations

from zlib import crc32

from policykit.kube.names import label_value_problem
from policykit.model.cluster import Cluster
from policykit.model.pod_fields import PodContext
from policykit.targets.yunikorn.configuration.queues import ROOT
from policykit.targets.yunikorn.derived.paths import paths

_LONGEST = 63


def application_id(pods: PodContext) -> str:
    """One for each object that makes pods, unlike any other of the cluster; empty: it has no name."""
    if not pods.owner:
        return ""
    whole = "-".join(filter(None, (pods.namespace, pods.owner_kind.lower(), pods.owner)))
    if len(whole) <= _LONGEST:
        return whole
    # The end is what tells long names apart.
    return f"{whole[: _LONGEST - 9]}-{crc32(whole.encode()):08x}"


def queue_path(queue: str, cluster: Cluster) -> str:
    """Whole path of a queue of the policy, or of one below root that it does not know."""
    known = paths(cluster.queues)
    if queue in known:
        return known[queue]
    return queue if queue == ROOT or queue.startswith(f"{ROOT}.") else f"{ROOT}.{queue}"


def is_label(path: str) -> bool:
    """Whether a label can hold a path; placeholders of a gang carry it as one."""
    return not label_value_problem(path)
