"""The objects that Koordinator is given beside its scheduler's configuration."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from policykit.generator.artifact import Artifact, Role
from policykit.manifests.writer import dump_all
from policykit.model.cluster import Cluster
from policykit.model.queue import Priority
from policykit.targets.koordinator.delivery import FOLDER
from policykit.targets.koordinator.names import SYSTEM
from policykit.targets.koordinator.objects import (
    classes,
    colocation,
    kept,
    podgroups,
    priorities,
    queue_notices,
    quota_tree,
    quotas,
    reservations,
    tenancy,
    topology,
)
from policykit.targets.koordinator.pods import scheduler
from policykit.targets.kubernetes.objects import priorities as priority_class
from policykit.targets.release import Version

QUOTAS = f"{FOLDER}/quotas.yaml"
COLOCATION = f"{FOLDER}/colocation.yaml"
PRIORITIES = f"{FOLDER}/priorities.yaml"
RESERVATIONS = f"{FOLDER}/reservations.yaml"
TOPOLOGY = f"{FOLDER}/network-topology.yaml"

READERS: Mapping[str, tuple[str, Callable[[Mapping[str, Any]], Any]]] = {
    podgroups.KIND: (podgroups.API_VERSION, podgroups.read),
    quotas.KIND: (quotas.API_VERSION, quotas.read),
    colocation.KIND: (colocation.API_VERSION, colocation.read),
    priority_class.KIND: (priority_class.API_VERSION, priority_class.read),
    reservations.KIND: (reservations.API_VERSION, reservations.read),
    topology.KIND: (topology.API_VERSION, topology.read),
}
"""Kind to its apiVersion and reader."""

_QUOTAS_SAY = (
    "Each parent stands before its children, as Koordinator's webhook wants them.\n"
    "What applies objects in another order, as kubectl apply -k does by their names,\n"
    "may have to apply them twice.\n"
)
_RESERVATIONS_SAY = (
    "Room for one pod each. One with a ttl ends with the first pod that takes it;\n"
    "one without (0s) stays, and is free again after each pod.\n"
)


def generate(
    cluster: Cluster, version: Version, namespace: str
) -> tuple[tuple[Artifact, ...], tuple[str, ...]]:
    """Files and notices of queues, classes, reservations and topology; `namespace` is of the ElasticQuotas.

    Raises PolicykitError for a queue whose name no label can hold.
    """
    target = cluster.targets[SYSTEM]
    tree = quota_tree.tree(cluster.queues, target.options.get("quota_namespace") or namespace, version)
    charged, unbound = tenancy.bound(tree.quotas, cluster.tenants)
    reserved, unkept = kept.kept(cluster, scheduler(cluster), version)
    artifacts = (
        *_file(QUOTAS, map(quotas.write, charged), _QUOTAS_SAY),
        *_file(COLOCATION, map(colocation.write, classes.profiles(cluster, scheduler(cluster)))),
        *_file(PRIORITIES, map(priority_class.write, _priority_classes(cluster))),
        *_file(RESERVATIONS, map(reservations.write, reserved), _RESERVATIONS_SAY),
        *_file(TOPOLOGY, _topologies(cluster, version)),
    )
    said = (
        *tree.notices,
        *unbound,
        *queue_notices.notices(cluster, charged, scheduler(cluster)),
        *classes.notices(cluster),
        *unkept,
    )
    return artifacts, said


def _priority_classes(cluster: Cluster) -> tuple[Priority, ...]:
    stated = [priority.name for priority in cluster.priorities]
    return priorities.own(stated) if classes.with_priority_classes(cluster) else ()


def _topologies(cluster: Cluster, version: Version) -> tuple[dict[str, Any], ...]:
    """Only where a kind of Koordinator's asks to stay close: nothing else reads it."""
    asking = any(
        kind.within is not None and kind.scheduler == scheduler(cluster)
        for kind in cluster.workloads.values()
    )
    if not asking or not cluster.levels or version < topology.FIRST:
        return ()
    return (topology.write(topology.layers(cluster.levels)),)


def _file(path: str, objects: Iterable[dict[str, Any]], says: str = "") -> tuple[Artifact, ...]:
    """A file of objects under a comment; none without objects."""
    text = dump_all(objects)
    comment = "".join(f"# {line}\n" for line in says.splitlines())
    commented = text.replace("---\n", f"---\n{comment}", 1)
    return (Artifact(path, commented, Role.MANIFEST),) if text else ()
