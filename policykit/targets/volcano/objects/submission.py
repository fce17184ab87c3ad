"""Who may use which queue: what Volcano can say of it, and what it leaves to others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from policykit.generator.artifact import Artifact, Role
from policykit.manifests import writer
from policykit.model.cluster import Cluster
from policykit.model.queue import Queue
from policykit.targets.release import Version
from policykit.targets.volcano import versions
from policykit.targets.volcano.names import QUEUE_NAME, SCHEDULER

FOLDER = "volcano/namespaces"
_MUTATED = Version(1, 12, 0)
"""Since here the webhook that reads a namespace's queue is off unless it is switched on."""
_EVERYBODY = "*"
_SAYS = (
    "---\n# Queues of the tenants, as annotations of the namespaces they have: name this\n"
    "# folder under `components` of the kustomization that holds the Namespaces. It\n"
    "# makes none itself.\n"
)


def artifacts(cluster: Cluster, version: Version) -> tuple[tuple[Artifact, ...], tuple[str, ...]]:
    """A kustomize component that gives the tenants' namespaces their queue; and what cannot be said."""
    queues = _queues(cluster)
    said = (*_submitters(cluster.queues), *_leaves(cluster, version))
    if not queues:
        return (), said
    files = [
        Artifact(f"{FOLDER}/{namespace}.yaml", _patch(namespace, queue), Role.COMPONENT)
        for namespace, queue in queues.items()
    ]
    patches = [
        {"path": f"{namespace}.yaml", "target": {"version": "v1", "kind": "Namespace", "name": namespace}}
        for namespace in queues
    ]
    component = {"apiVersion": "kustomize.config.k8s.io/v1alpha1", "kind": "Component", "patches": patches}
    files.append(Artifact(f"{FOLDER}/kustomization.yaml", _SAYS + writer.dump(component), Role.COMPONENT))
    return tuple(files), (*said, *_webhook(version))


def _queues(cluster: Cluster) -> dict[str, str]:
    """Namespace to its tenant's queue, sorted; the first tenant that owns it has the word."""
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
    if version >= _MUTATED:
        yield (
            "the queue of a namespace is read by admission /podgroups/mutate, which is off since Volcano "
            f"{_MUTATED}: add it to the chart's value custom.enabled_admissions"
        )


def _submitters(queues: Sequence[Queue]) -> Iterator[str]:
    limited = sorted(
        queue.name for queue in queues if queue.submit is not None and _EVERYBODY not in queue.submit.users
    )
    if limited:
        yield (
            f"queue {', '.join(limited)}: Volcano lets everybody submit to every queue. Who may is for RBAC "
            "on the tenants' namespaces, with a ValidatingAdmissionPolicy on the queue that pods and jobs "
            "name"
        )


def _leaves(cluster: Cluster, version: Version) -> Iterator[str]:
    """A job in a queue with children is refused, and one that is there stops all others."""
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
                f"{who} uses queue {queue}, which has queues below: Volcano takes jobs in the lowest queues "
                "only, name one of those"
            )
