"""Everything policykit writes for Kueue, a README, and notices about what Kueue cannot express."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from policykit.generator.artifact import Artifact, Notice, Role, TargetOutput
from policykit.manifests import writer
from policykit.model.cluster import Cluster
from policykit.model.queue import Queue
from policykit.model.release import Version
from policykit.targets.kueue import options, tenancy, versions
from policykit.targets.kueue.flavors import Flavors, pool_flavors
from policykit.targets.kueue.names import TARGET_NAME
from policykit.targets.kueue.objects import queues, resource_flavors
from policykit.targets.kueue.options import KueueOptions
from policykit.targets.kueue.quotas import Quotas, quotas

_EVERYBODY = "*"


def notices(cluster: Cluster, options: KueueOptions, version: Version) -> Iterator[str]:
    """One notice for each field that is not written."""
    yield from _queues(cluster, options, version)
    yield from _parents_with_workloads(cluster)
    yield from _priorities(cluster)
    yield from tenancy.notices(cluster)
    yield from _gangs(cluster)


def _queues(cluster: Cluster, options: KueueOptions, version: Version) -> Iterator[str]:
    closed = _named(cluster, lambda queue: queue.submit is not None and _EVERYBODY not in queue.submit.users)
    if closed:
        yield (
            f"queue {closed}: Kueue has no users or groups. Restrict by RBAC who may create LocalQueues, and "
            "workloads in the namespaces that have one"
        )
    kept = _named(cluster, lambda queue: not queue.reclaimable)
    if kept:
        yield (
            f"queue {kept}: Kueue cannot exempt a queue from reclaim. Nearest: a limit equal to what it "
            "deserves, so that it borrows nothing"
        )
    ranked = _named(cluster, lambda queue: queue.priority is not None)
    if ranked:
        yield f"queue {ranked}: ClusterQueues have no priority. Nearest: priorities of the workloads"
    weighted = _named(cluster, lambda queue: queue.weight != 1)
    if weighted and not options.fair_sharing:
        yield (
            f"queue {weighted}: Kueue reads weights only with fair sharing. Enable it in Kueue's "
            "Configuration, and set targets.kueue.fairSharing"
        )
    parents = {queue.parent for queue in cluster.queues}
    inner = _named(cluster, lambda queue: queue.weight != 1 and queue.name in parents)
    if inner and options.fair_sharing and version < versions.COHORT_FAIR_SHARING:
        yield (
            f"queue {inner}: Cohorts of Kueue {version} have no weight (added in "
            f"{versions.COHORT_FAIR_SHARING})"
        )


def _named(cluster: Cluster, condition: Callable[[Queue], bool]) -> str:
    return ", ".join(sorted(queue.name for queue in cluster.queues if condition(queue)))


def _parents_with_workloads(cluster: Cluster) -> Iterator[str]:
    parents = {queue.parent for queue in cluster.queues}
    for name in sorted(tenancy.namespaces(cluster).keys() & parents):
        yield (
            f"queue {name} has children and workloads of its own: next to its Cohort it becomes a "
            "ClusterQueue of the same name without quota, which borrows from the Cohort"
        )


def _priorities(cluster: Cluster) -> Iterator[str]:
    calm = ", ".join(sorted(each.name for each in cluster.priorities if not each.preempts))
    if calm:
        yield (
            f"priority {calm}: a WorkloadPriorityClass has no preemptionPolicy, so its workloads preempt as "
            "their queue allows"
        )


def _gangs(cluster: Cluster) -> Iterator[str]:
    late = sorted(
        kind.name
        for kind in cluster.workloads.values()
        if tenancy.admits(kind, cluster) and kind.gang_rule and kind.gang_rule.timeout
    )
    if late:
        yield (
            f"workload kind {', '.join(late)}: Kueue has one timeout for all workloads: waitForPodsReady in "
            "its Configuration"
        )


NAMESPACE = "kueue-system"
README = f"{TARGET_NAME}/README.md"


def generate(cluster: Cluster) -> TargetOutput:
    """All files for `cluster.targets["kueue"]`; none if the policy has no such target.

    Raises PolicykitError for an unknown version, and for queues that Kueue would reject.
    """
    target = cluster.targets.get(TARGET_NAME)
    if target is None:
        return TargetOutput()
    version, chosen = versions.parse(target.version), options.kueue_options(cluster)
    made = pool_flavors(cluster, version)
    shared = quotas(cluster, made.flavors, chosen, version)
    artifacts = [
        Artifact(f"{TARGET_NAME}/{name}.yaml", writer.dump_all(objects), Role.MANIFEST)
        for name, objects in _objects(cluster, made, shared, version).items()
        if objects
    ]
    paths = [artifact.path for artifact in artifacts]
    text = _readme(paths, target.namespace or NAMESPACE, version)
    messages = (*made.notices, *shared.notices, *notices(cluster, chosen, version))
    return TargetOutput(
        (*artifacts, Artifact(README, text, Role.PAGE)),
        tuple(Notice(TARGET_NAME, message) for message in messages),
    )


def _objects(
    cluster: Cluster, made: Flavors, shared: Quotas, version: Version
) -> Mapping[str, list[dict[str, Any]]]:
    """File name to objects, those that others refer to first."""
    tree: Iterable[dict[str, Any]] = (
        *(queues.write_cohort(each, version) for each in shared.cohorts),
        *(queues.write_cluster_queue(each, version) for each in shared.queues),
    )
    return {
        "topologies": [resource_flavors.write_topology(each, version) for each in made.topologies],
        "flavors": [resource_flavors.write_flavor(each.flavor, version) for each in made.flavors],
        "queues": list(tree),
        "local-queues": [queues.write_local_queue(each, version) for each in tenancy.local_queues(cluster)],
        "priorities": [queues.write_priority_class(each, version) for each in cluster.priorities],
    }


_README_ROWS: Mapping[str, str] = {
    "topologies.yaml": "the levels by which Kueue places the pods of a workload. Levels cannot be changed.",
    "flavors.yaml": (
        "a ResourceFlavor for each pool: admitted pods get its labels as nodeSelector, and only pods that "
        "tolerate its taints are admitted. With a topology its labels cannot be changed."
    ),
    "queues.yaml": (
        "Cohorts, which are queues with children, and ClusterQueues. Amounts are by flavor: what a queue "
        "deserves is its nominalQuota, what others may not borrow of it its guarantee."
    ),
    "local-queues.yaml": (
        "a LocalQueue in each namespace of a tenant: workloads name it in the label "
        "`kueue.x-k8s.io/queue-name`. The namespaces must exist, and a LocalQueue cannot move to another "
        "ClusterQueue."
    ),
    "priorities.yaml": (
        "a WorkloadPriorityClass for each priority: workloads name it in the label "
        "`kueue.x-k8s.io/priority-class`."
    ),
}
_README_NAMESPACES = (
    "Kueue manages the namespaces that `managedJobsNamespaceSelector` of its Configuration selects: the "
    "tenants' namespaces must be among them."
)


def _readme(paths: Sequence[str], namespace: str, version: Version) -> str:
    """Markdown for the files at `paths`."""
    names = [path.rpartition("/")[2] for path in paths]
    rows = "\n".join(f"- `{name}`: {_README_ROWS[name]}" for name in names)
    apply = (
        f"Kueue runs in namespace `{namespace}`. Its webhooks must be ready before the objects are applied: "
        "`kubectl apply -f .` in this folder, or use the kustomization in the parent folder."
    )
    return "\n\n".join((f"# Kueue {version}", rows, apply, _README_NAMESPACES)) + "\n"
