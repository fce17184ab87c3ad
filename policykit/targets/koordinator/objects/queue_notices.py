"""What queues ask for that an ElasticQuota cannot say."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from policykit.model.cluster import Cluster
from policykit.model.queue import Queue
from policykit.targets.koordinator.objects.quotas import ElasticQuota

_UNSAID: tuple[tuple[Callable[[Queue], bool], str], ...] = (
    (
        lambda queue: queue.submit is not None,
        "Koordinator does not check who may submit. Give the queue to a tenant's namespaces, and restrict "
        "who may create pods there",
    ),
    (
        lambda queue: queue.pools is not None,
        "an ElasticQuota has no pools of its own. The placement of workload kinds comes nearest, or an "
        "ElasticQuotaProfile for a tree of quotas over some nodes",
    ),
    (
        lambda queue: queue.priority is not None,
        "Koordinator has no priority among queues. Pods are ordered by their PriorityClass",
    ),
    (
        lambda queue: not queue.reclaimable,
        "an ElasticQuota cannot say reclaimable: false. Pods with the label "
        'quota.scheduling.koordinator.sh/preemptible: "false" keep their place, within its minimum',
    ),
)


def notices(cluster: Cluster, quotas: tuple[ElasticQuota, ...], scheduler: str) -> Iterator[str]:
    """`scheduler`: the schedulerName of the pods that quotas are charged for."""
    for asks, unsaid in _UNSAID:
        asking = [queue.name for queue in cluster.queues if asks(queue)]
        if asking:
            yield f"{_queues(asking)}: {unsaid}"
    yield from _lending(cluster, quotas)
    parents = {quota.name for quota in quotas if quota.is_parent}
    for kind in cluster.workloads.values():
        if kind.scheduler == scheduler and kind.queue in parents:
            yield (
                f"workload kind {kind.name} has queue {kind.queue}, which has children: Koordinator refuses "
                "pods there, unless its gate SupportParentQuotaSubmitPod is on. Name one of the children"
            )


def _lending(cluster: Cluster, quotas: tuple[ElasticQuota, ...]) -> Iterator[str]:
    if cluster.preemption.reclaim:
        return
    lending = [quota.name for quota in quotas if quota.lends and any(quota.minimum.values())]
    if lending:
        yield (
            f"{_queues(lending)}: the minimum is lent while unused, and comes back only as borrowing pods "
            "end, unless the policy says preemption.reclaim: true"
        )


def _queues(names: list[str]) -> str:
    return f"queue {names[0]}" if len(names) == 1 else f"queues {', '.join(names)}"
