"""Notices about what Kubernetes alone cannot express, with the nearest alternative."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from policykit.model.cluster import Cluster
from policykit.model.release import Version
from policykit.model.workload import WorkloadKind
from policykit.targets.kubernetes import pod_groups, scheduler_names, versions
from policykit.targets.kubernetes.options import KubernetesOptions


def notices(cluster: Cluster, stated: KubernetesOptions) -> Iterator[str]:
    """One notice per section; none for what another scheduler of the policy handles."""
    if scheduler_names.is_only_scheduler(cluster):
        yield from _sharing(cluster)
    yield from _gangs(cluster, stated)


def _sharing(cluster: Cluster) -> Iterator[str]:
    if cluster.queues:
        queues = ", ".join(queue.name for queue in cluster.queues)
        yield (
            f"kube-scheduler has no queues, so the shares, guarantees and limits of {queues} have no effect. "
            "Nearest: quotas of the teams' namespaces, and priorities"
        )
    if cluster.preemption.within_queue is not None or cluster.preemption.reclaim is not None:
        yield (
            "kube-scheduler preempts by priority only and ignores `preemption` of queues. Nearest: "
            "priorities, with preempts: false for those that must not preempt"
        )
    if cluster.reservations:
        reserved = ", ".join(each.name for each in cluster.reservations)
        yield (
            f"kube-scheduler cannot reserve capacity, so reservations {reserved} have no effect. Nearest: "
            "placeholder pods of a lower priority that others preempt, or a separate pool"
        )


def _gangs(cluster: Cluster, stated: KubernetesOptions) -> Iterator[str]:
    kinds = [kind for kind in cluster.workloads.values() if pod_groups.is_native_gang(kind, cluster)]
    version = versions.parse(cluster.kubernetes_version)
    if not stated.native_gang:
        if kinds and scheduler_names.is_only_scheduler(cluster):
            yield (
                f"kube-scheduler starts the pods of {', '.join(kind.name for kind in kinds)} one by one: "
                "`gang` has no effect. "
                "Nearest: a scheduler with gangs (Volcano, Koordinator, YuniKorn), or from Kubernetes 1.35 "
                "on, targets.kubernetes.nativeGang"
            )
    elif not cluster.kubernetes_version:
        yield (
            "nativeGang needs the cluster's version, because the gang API differs in each release: set "
            "`kubernetes` in the policy"
        )
    elif not pod_groups.api_version(version):
        yield (
            f"nativeGang: Kubernetes {version.major}.{version.minor} has no gang API; 1.35 is the first "
            "release with one. Nearest: a scheduler with gangs (Volcano, Koordinator, YuniKorn)"
        )
    elif kinds:
        yield from _native(kinds, version)


def _native(kinds: Sequence[WorkloadKind], version: Version) -> Iterator[str]:
    api, gates = pod_groups.api_version(version), ", ".join(pod_groups.gates(kinds, version))
    yield (
        f"gangs of {', '.join(kind.name for kind in kinds)} use {api}, which the next release does not "
        f"accept. It is off by default: the API server needs --runtime-config={api}=true, and both it and "
        f"the scheduler need the feature gates {gates}. Without them the pod fields are dropped silently"
    )
    waiting = [k.name for k in kinds if k.gang_rule and (k.gang_rule.timeout or k.gang_rule.on_timeout)]
    if waiting:
        yield (
            "Kubernetes gangs wait 5 minutes for their pods and then try again, whatever timeout "
            f"{', '.join(waiting)} sets"
        )
