"""The namespaces that use each queue, and their LocalQueues."""

from __future__ import annotations

from collections.abc import Iterator

from policykit.model.cluster import Cluster
from policykit.model.workload import WorkloadKind
from policykit.targets import DEFAULT_TARGET, target_name_of
from policykit.targets.kueue.objects.queues import LocalQueue


def admits(kind: WorkloadKind, cluster: Cluster) -> bool:
    """Whether Kueue admits the kind, because the scheduler of its pods has no queues of its own."""
    return target_name_of(kind.scheduler, cluster) == DEFAULT_TARGET


def namespaces(cluster: Cluster) -> dict[str, tuple[str, ...] | None]:
    """Queue to the namespaces that use it, sorted; None: a workload kind may use it in any.

    Queues without a tenant or a kind that Kueue admits are left out.
    """
    found: dict[str, set[str] | None] = {}
    for tenant in cluster.tenants:
        if tenant.queue:
            _add(found, tenant.queue, tenant.namespaces)
    for kind in cluster.workloads.values():
        if kind.queue and admits(kind, cluster):
            _add(found, kind.queue, kind.namespaces or None)
    return {queue: None if names is None else tuple(sorted(names)) for queue, names in found.items()}


def _add(found: dict[str, set[str] | None], queue: str, names: tuple[str, ...] | None) -> None:
    there = found.setdefault(queue, set())
    if names is None:
        found[queue] = None
    elif there is not None:
        there.update(names)


def local_queues(cluster: Cluster) -> tuple[LocalQueue, ...]:
    """A LocalQueue, named after its queue, in each namespace that is known to use it, sorted."""
    found: dict[tuple[str, str], str] = {}
    for tenant in cluster.tenants:
        for name in tenant.namespaces if tenant.queue else ():
            found.setdefault((name, tenant.queue), tenant.name)
    for kind in cluster.workloads.values():
        for name in kind.namespaces if kind.queue and admits(kind, cluster) else ():
            found.setdefault((name, kind.queue), "")
    return tuple(LocalQueue(queue, name, queue, tenant) for (name, queue), tenant in sorted(found.items()))


def notices(cluster: Cluster) -> Iterator[str]:
    """Notices about kinds without LocalQueues, since the policy does not name their namespaces."""
    for kind in cluster.workloads.values():
        if kind.queue and admits(kind, cluster) and not kind.namespaces:
            yield (
                f"workload kind {kind.name} uses queue {kind.queue} in any namespace, but a LocalQueue "
                "belongs to one: name the kind's namespaces, or give the queue to tenants"
            )
