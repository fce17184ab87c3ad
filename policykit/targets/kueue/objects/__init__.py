"""Kueue's objects, and their reader."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from policykit.model.queue import Priority
from policykit.targets.kueue.objects import queues, resource_flavors
from policykit.targets.kueue.objects.queues import ClusterQueue, Cohort, LocalQueue
from policykit.targets.kueue.objects.resource_flavors import ResourceFlavor, Topology

Object = ResourceFlavor | Topology | ClusterQueue | Cohort | LocalQueue | Priority

READERS: Mapping[str, Callable[[Mapping[str, Any]], Object]] = {
    queues.CLUSTER_QUEUE: queues.read_cluster_queue,
    queues.COHORT: queues.read_cohort,
    queues.LOCAL_QUEUE: queues.read_local_queue,
    queues.WORKLOAD_PRIORITY_CLASS: queues.read_priority_class,
    resource_flavors.RESOURCE_FLAVOR: resource_flavors.read_flavor,
    resource_flavors.TOPOLOGY: resource_flavors.read_topology,
}
"""Kind to the function that reads it."""
