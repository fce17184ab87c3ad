"""What YuniKorn cannot express of a policy, and the nearest alternative."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from policykit.model.cluster import Cluster, TargetSettings
from policykit.model.release import Version
from policykit.targets.yunikorn import versions
from policykit.targets.yunikorn.configuration import access_lists, properties, settings
from policykit.targets.yunikorn.configuration.queues_yaml import Queue, walk
from policykit.targets.yunikorn.node_sorting import served_kinds
from policykit.targets.yunikorn.options import Options


def policy_notices(cluster: Cluster, target: TargetSettings, options: Options) -> Iterator[str]:
    """About queues, preemption, tenants, workload kinds and reservations."""
    yield from _queues(cluster)
    yield from _preemption(cluster)
    yield from _tenants(cluster)
    yield from _workloads(cluster, target, options)
    if cluster.reservations:
        named = ", ".join(each.name for each in cluster.reservations)
        yield (
            f"reservation {named}: YuniKorn reserves no capacity. Nearest: guarantee of the tenant's queue, "
            "which preemption takes back from others"
        )


def version_notices(options: Options, version: Version) -> Iterator[str]:
    """About options that a release does not know."""
    if options.quota_preemption and version < versions.QUOTA_PREEMPTION:
        yield f"quotaPreemption requires YuniKorn {versions.QUOTA_PREEMPTION} or later: left out"
    stated = {name: of.properties for name, of in options.queues.items()}
    stated |= {f"{name} (childTemplate)": of.template.properties for name, of in options.queues.items()}
    for queue, each in stated.items():
        for name, text in sorted(each.items()):
            since = properties.KNOWN[name].since if name in properties.KNOWN else None
            if since and version < since:
                yield f"property {name} of queue {queue} {properties.problem(name, text, version)}: left out"
    for key, text in sorted(options.settings.items()):
        known = settings.KNOWN.get(key)
        if known and known.since and version < known.since:
            yield f"setting {key} {settings.problem(key, text, version)}: left out"


def _queues(cluster: Cluster) -> Iterator[str]:
    weighted = ", ".join(queue.name for queue in cluster.queues if queue.weight != 1)
    if weighted:
        yield (
            f"weight of queue {weighted} has no counterpart: YuniKorn first serves the queue that uses the "
            "smallest share of its guarantee. Nearest: guarantees in the same proportion"
        )
    bound = ", ".join(queue.name for queue in cluster.queues if queue.pools)
    if bound:
        yield (
            f"pools of queue {bound}: YuniKorn's queues are not bound to nodes. Nearest: usages of the "
            "workload kinds, which become node affinity of their pods"
        )
    for queue in cluster.queues:
        unknown = access_lists.invalid_names(queue.submit) if queue.submit else ()
        if unknown:
            yield (
                f"queue {queue.name}: YuniKorn's access lists cannot name {', '.join(unknown)}: left out. "
                "Nearest: a group"
            )


def _preemption(cluster: Cluster) -> Iterator[str]:
    if cluster.preemption.within_queue:
        yield (
            "preemption within a queue: YuniKorn preempts only pods of other queues. Nearest: a queue for "
            "each priority below one parent"
        )
    guaranteed = any(any({**queue.guarantee, **queue.deserved}.values()) for queue in cluster.queues)
    if cluster.preemption.reclaim and not guaranteed:
        yield "no queue has a guarantee, so YuniKorn takes nothing back. Set guarantee on queues"


def _tenants(cluster: Cluster) -> Iterator[str]:
    restricted = {queue.name for queue in cluster.queues if queue.submit is not None}
    open_ = [
        t.name for t in cluster.tenants if (t.users or t.groups) and t.queue and t.queue not in restricted
    ]
    if open_:
        yield (
            f"users and groups of tenant {', '.join(open_)} do not restrict its queue: its namespaces "
            "decide who uses it. To restrict it, set submit on the queue"
        )
    homeless = [tenant.name for tenant in cluster.tenants if not tenant.queue and tenant.namespaces]
    if homeless and cluster.queues:
        yield f"tenant {', '.join(homeless)} has no queue: pods of its namespaces go to the fallback queue"


def closed_parent_notices(root: Queue, places: Iterable[str]) -> Iterator[str]:
    """About queues below which placement rules create queues that nobody may submit to."""
    opened = [path for path, queue in walk(root) if queue.submit or queue.admin]
    for place in sorted(set(places)):
        if not any(place == path or place.startswith(f"{path}.") for path in opened):
            yield (
                f"namespaces with a queue of their own below {place}: their pods are rejected, as {place} "
                "has no access list, because a queue below it admits fewer people. Nearest: a queue of the "
                "policy for them, with submit"
            )


def _workloads(cluster: Cluster, target: TargetSettings, options: Options) -> Iterator[str]:
    kinds = served_kinds(cluster, target)
    ranked = [kind.name for kind in kinds if len(set(kind.prefer.values())) > 1]
    if ranked:
        yield (
            f"preferred usages of workload kind {', '.join(ranked)} have no effect: YuniKorn sorts nodes "
            "only by utilization. Nearest: a single usage"
        )
    for kind in kinds:
        sort = options.of(kind.queue).properties.get(properties.SORT)
        if kind.gang == "all" and sort == "fair":
            yield (
                f"queue {kind.queue} sorts applications fair, where YuniKorn rejects gangs: workload "
                f"kind {kind.name} needs {properties.SORT} fifo"
            )
