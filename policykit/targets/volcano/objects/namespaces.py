"""The queues of tenants, as annotations of their namespaces."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from policykit.generator.artifact import Artifact, Role
from policykit.manifests import writer
from policykit.model.cluster import Cluster
from policykit.model.queue import Queue
from policykit.model.release import Version
from policykit.targets.volcano import versions
from policykit.targets.volcano.names import QUEUE_NAME, SCHEDULER

FOLDER = "volcano/namespaces"
_EVERYBODY = "*"
_HEADER = (
    "---\n# Queues of the tenants, as annotations of their namespaces: list this folder\n"
    "# under `components` of the kustomization that contains the Namespaces. It\n"
    "# creates none itself.\n"
)


def artifacts(cluster: Cluster, version: Version) -> tuple[tuple[Artifact, ...], tuple[str, ...]]:
    """A kustomize component that annotates the tenants' namespaces with their queue, and notices."""
    queues = _queues(cluster)
    messages = (*_submitters(cluster.queues), *_leaves(cluster, version))
    if not queues:
        return (), messages
    files = [
        Artifact(f"{FOLDER}/{namespace}.yaml", _patch(namespace, queue), Role.COMPONENT)
        for namespace, queue in queues.items()
    ]
    patches = [
        {"path": f"{namespace}.yaml", "target": {"version": "v1", "kind": "Namespace", "name": namespace}}
        for namespace in queues
    ]
    component = {"apiVersion": "kustomize.config.k8s.io/v1alpha1", "kind": "Component", "patches": patches}
    files.append(Artifact(f"{FOLDER}/kustomization.yaml", _HEADER + writer.dump(component), Role.COMPONENT))
    return tuple(files), (*messages, *_webhook(version))


def _queues(cluster: Cluster) -> dict[str, str]:
    """Namespace to the queue of the first tenant that owns it, sorted."""
    found: dict[str, str] = {}
    for tenant in cluster.tenants:
        for namespace in tenant.namespaces if tenant.queue else ():
            found.setdefault(namespace, tenant.queue)
    return dict(sorted(found.items()))


def _patch(namespace: str, queue: str) -> str:
    metadata = {"name": namespace, "annotations": {QUEUE_NAME: queue}}
    return "---\n# policykit: partial\n" + writer.dump(
        {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}
    )


def _webhook(version: Version) -> Iterator[str]:
    if version >= versions.NAMESPACE_QUEUES_OFF:
        yield (
            "admission /podgroups/mutate reads the queue of a namespace, and is off by default since Volcano "
            f"{versions.NAMESPACE_QUEUES_OFF}: add it to the chart's value custom.enabled_admissions"
        )


def _submitters(queues: Sequence[Queue]) -> Iterator[str]:
    limited = sorted(
        queue.name for queue in queues if queue.submit is not None and _EVERYBODY not in queue.submit.users
    )
    if limited:
        yield (
            f"queue {', '.join(limited)}: Volcano lets everybody submit to every queue. Restrict it by RBAC "
            "on the tenants' namespaces, with a ValidatingAdmissionPolicy on the queue that pods and jobs "
            "name"
        )


def _leaves(cluster: Cluster, version: Version) -> Iterator[str]:
    """Notices about queues with children: Volcano rejects jobs in them, and one there blocks all others."""
    parents = {queue.parent for queue in cluster.queues} if version >= versions.HIERARCHY else set()
    target = cluster.targets.get(SCHEDULER)
    ours = ("", target.scheduler_name if target else SCHEDULER, SCHEDULER)
    users = [(f"tenant {tenant.name}", tenant.queue) for tenant in cluster.tenants]
    users += [
        (f"workload kind {kind.name}", kind.queue)
        for kind in cluster.workloads.values()
        if kind.scheduler in ours
    ]
    for who, queue in users:
        if queue and (queue in parents or queue == "root"):
            yield (
                f"{who} uses queue {queue}, which has child queues: Volcano accepts jobs only in queues "
                "without children. Name one of those"
            )
