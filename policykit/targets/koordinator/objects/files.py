"""The files of Koordinator's objects, apart from the configuration of its scheduler."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from policykit.generator.artifact import Artifact, Role, in_waves
from policykit.manifests.writer import dump_all
from policykit.model.cluster import Cluster
from policykit.model.queue import Priority, Queue
from policykit.model.release import Version
from policykit.targets.koordinator import options
from policykit.targets.koordinator.names import TARGET_NAME
from policykit.targets.koordinator.objects import colocation, quota_tree, quotas, reservations, topology
from policykit.targets.koordinator.objects.colocation import BANDS
from policykit.targets.koordinator.objects.quotas import ElasticQuota
from policykit.targets.koordinator.pods import scheduler_name
from policykit.targets.koordinator.scheduler import plugins
from policykit.targets.koordinator.versions import NETWORK_TOPOLOGY
from policykit.targets.kubernetes import priorities as priority_class

QUOTAS = f"{TARGET_NAME}/quotas.yaml"
COLOCATION = f"{TARGET_NAME}/colocation.yaml"
PRIORITIES = f"{TARGET_NAME}/priorities.yaml"
RESERVATIONS = f"{TARGET_NAME}/reservations.yaml"
TOPOLOGY = f"{TARGET_NAME}/network-topology.yaml"

_QUOTAS_COMMENT = "Each parent comes before its children, as Koordinator's webhook requires.\n"
_RESERVATIONS_COMMENT = (
    "Each reserves resources for one pod. With a ttl it ends with the first pod that uses it;\n"
    "without one (0s) it stays, and is free again after each pod.\n"
)
_TOPOLOGY_COMMENT = "Read by a scheduler with --enable-network-topology-manager, which the chart sets.\n"


def generate(
    cluster: Cluster, version: Version, namespace: str
) -> tuple[tuple[Artifact, ...], tuple[str, ...]]:
    """Files and notices of queues, classes, reservations and topology; `namespace`: of the ElasticQuotas.

    Raises PolicykitError for a queue whose name is not a valid label value.
    """
    target = cluster.targets[TARGET_NAME]
    stated = options.koordinator_options(target).fields(plugins.QUOTAS)
    tree = quota_tree.tree(cluster.queues, stated.get("quotaGroupNamespace") or namespace, version)
    bound, unbound = quota_tree.bind_namespaces(tree.quotas, cluster.tenants)
    reserved, unreserved = reservations.reservations_of(cluster, scheduler_name(cluster), version)
    parents = {quota.name: quota.parent for quota in bound}
    artifacts = (
        *_file(QUOTAS, in_waves(map(quotas.write, bound), parents), _QUOTAS_COMMENT),
        *_file(COLOCATION, map(colocation.write, colocation.profiles(cluster, scheduler_name(cluster)))),
        *_file(PRIORITIES, map(priority_class.write, _priority_classes(cluster))),
        *_file(RESERVATIONS, map(reservations.write, reserved), _RESERVATIONS_COMMENT),
        *_file(TOPOLOGY, _topologies(cluster, version), _TOPOLOGY_COMMENT),
    )
    notices = (
        *tree.notices,
        *unbound,
        *_queue_notices(cluster, bound, scheduler_name(cluster)),
        *colocation.notices(cluster),
        *unreserved,
    )
    return artifacts, notices


def _priority_classes(cluster: Cluster) -> tuple[Priority, ...]:
    """Koordinator's own, as its chart installs them, except those that the policy states itself."""
    stated = {priority.name for priority in cluster.priorities}
    return tuple(
        Priority(band.priority_class, band.lowest, description=band.description)
        for band in BANDS
        if options.koordinator_options(cluster.targets[TARGET_NAME]).priority_classes
        and band.priority_class not in stated
    )


def _topologies(cluster: Cluster, version: Version) -> tuple[dict[str, Any], ...]:
    """Only if a workload kind of Koordinator must stay within a level: nothing else reads it."""
    needed = any(
        kind.within is not None and kind.scheduler == scheduler_name(cluster)
        for kind in cluster.workloads.values()
    )
    if not needed or not cluster.levels or version < NETWORK_TOPOLOGY:
        return ()
    return (topology.write(topology.layers(cluster.levels)),)


def _file(path: str, objects: Iterable[dict[str, Any]], comment: str = "") -> tuple[Artifact, ...]:
    """A file of objects with a comment at the top; none without objects."""
    text = dump_all(objects)
    lines = "".join(f"# {line}\n" for line in comment.splitlines())
    commented = text.replace("---\n", f"---\n{lines}", 1)
    return (Artifact(path, commented, Role.MANIFEST),) if text else ()


_UNSUPPORTED: tuple[tuple[Callable[[Queue], bool], str], ...] = (
    (
        lambda queue: queue.submit is not None,
        "Koordinator does not check who submits pods. Assign the queue to a tenant's namespaces, and "
        "restrict who may create pods there",
    ),
    (
        lambda queue: queue.pools is not None,
        "an ElasticQuota has no pools of its own. The closest alternatives are the placement of workload "
        "kinds, or an ElasticQuotaProfile for a tree of quotas over some nodes",
    ),
    (
        lambda queue: queue.priority is not None,
        "Koordinator has no priorities of queues. Pods are ordered by their PriorityClass",
    ),
    (
        lambda queue: not queue.reclaimable,
        "an ElasticQuota cannot express reclaimable: false. Pods with the label "
        'quota.scheduling.koordinator.sh/preemptible: "false" are not preempted, within its minimum',
    ),
)


def _queue_notices(cluster: Cluster, quotas: tuple[ElasticQuota, ...], scheduler_name: str) -> Iterator[str]:
    """About queues. `scheduler_name`: that of the pods that are charged to quotas."""
    for has, notice in _UNSUPPORTED:
        names = [queue.name for queue in cluster.queues if has(queue)]
        if names:
            yield f"{_listed(names)}: {notice}"
    yield from _lending(cluster, quotas)
    parents = {quota.name for quota in quotas if quota.is_parent}
    for kind in cluster.workloads.values():
        if kind.scheduler == scheduler_name and kind.queue in parents:
            yield (
                f"workload kind {kind.name} has queue {kind.queue}, which has children: Koordinator refuses "
                "pods there, unless its feature gate SupportParentQuotaSubmitPod is on. Name one of the "
                "children"
            )


def _lending(cluster: Cluster, quotas: tuple[ElasticQuota, ...]) -> Iterator[str]:
    if cluster.preemption.reclaim:
        return
    lending = [quota.name for quota in quotas if quota.lends and any(quota.minimum.values())]
    if lending:
        yield (
            f"{_listed(lending)}: the minimum is lent while unused, and returned only as borrowing pods "
            "end, unless the policy has preemption.reclaim: true"
        )


def _listed(names: list[str]) -> str:
    return f"queue {names[0]}" if len(names) == 1 else f"queues {', '.join(names)}"
