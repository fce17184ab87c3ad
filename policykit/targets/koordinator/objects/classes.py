"""Which workload kinds run as which class of Koordinator, as `targets.koordinator.colocation` says."""

from __future__ import annotations

import re
from collections.abc import Iterator

from policykit.model.cluster import Cluster
from policykit.model.workload import WorkloadKind
from policykit.placement.recognition import WORKLOAD_KEY
from policykit.targets.koordinator import options
from policykit.targets.koordinator.names import SYSTEM
from policykit.targets.koordinator.objects.colocation import Profile
from policykit.targets.koordinator.objects.resources import OVERCOMMITTED
from policykit.targets.koordinator.options import PodClass

_UNFIT = re.compile(r"[^a-z0-9-]+")
_WHOLE_CPUS = frozenset({"LSE", "LSR"})


def classes(cluster: Cluster) -> dict[str, PodClass]:
    """Workload kind to its class, in the policy's order."""
    stated = options.of(cluster.targets.get(SYSTEM)).classes
    return {name: each for name, each in stated.items() if name in cluster.workloads}


def priority_class(kind: WorkloadKind, of: PodClass) -> str:
    """The PriorityClass of its pods: the kind's own, whose value is in the band, or Koordinator's."""
    return kind.priority_class or f"koord-{of.priority}"


def profiles(cluster: Cluster, scheduler: str) -> tuple[Profile, ...]:
    """One for each kind, selecting by the label of the kind: no pod matches two.

    None for a kind whose tenants own no namespace: a profile without namespaces applies to all.
    `scheduler` is Koordinator's schedulerName: profiles of kinds that have it set it too.
    """
    namespaces = {tenant.name: tenant.namespaces for tenant in cluster.tenants}
    found: list[Profile] = []
    for name, of in classes(cluster).items():
        kind = cluster.workloads[name]
        where = [*(n for tenant in of.tenants for n in namespaces.get(tenant, ())), *of.namespaces]
        if of.tenants and not where:
            continue
        found.append(
            Profile(
                _free(name, found),
                {WORKLOAD_KEY: name},
                tuple(dict.fromkeys(where)),
                of.qos,
                priority_class(kind, of),
                of.order,
                scheduler if kind.scheduler == scheduler else "",
            )
        )
    return tuple(found)


def notices(cluster: Cluster) -> Iterator[str]:
    """Consequences of a class that are easily missed."""
    limits = {queue.name: queue.limit for queue in cluster.queues}
    for name, of in classes(cluster).items():
        if of.qos in _WHOLE_CPUS:
            yield (
                f"workload kind {name} runs as {of.qos}: each of its pods must request whole cpus in total, "
                "or Koordinator's webhook refuses it"
            )
        native = [r for r in ("cpu", "memory") if r in limits.get(cluster.workloads[name].queue, {})]
        counted = OVERCOMMITTED.get(of.priority)
        if counted and native:
            queue = cluster.workloads[name].queue
            yield (
                f"workload kind {name} runs as {of.priority}: its requests of cpu and memory become "
                f"{' and '.join(counted)}, so the limit of {' and '.join(native)} of queue {queue} does not "
                f"apply. Limit {counted[0]} (in thousandths of a core) and {counted[1]} there"
            )
        if of.priority == "free":
            yield (
                f"workload kind {name} runs as free: Koordinator does not translate its requests, so it uses "
                "cpu and memory as any other pod does"
            )


def _free(name: str, taken: list[Profile]) -> str:
    """A name for the object, numbered where two kinds give the same."""
    plain = _UNFIT.sub("-", name.lower()).strip("-") or "workload"
    there, free, number = {profile.name for profile in taken}, plain, 1
    while free in there:
        number += 1
        free = f"{plain}-{number}"
    return free
