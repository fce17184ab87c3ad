"""Everything policykit writes for Kueue: flavors, topologies, queues, priorities and a README."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from policykit.generator.artifact import Artifact, Generated, Notice, Role
from policykit.manifests import writer
from policykit.model.cluster import Cluster
from policykit.model.release import Version
from policykit.targets.kueue import notices, options, tenancy, versions
from policykit.targets.kueue.flavors import Flavors, pool_flavors
from policykit.targets.kueue.names import TARGET_NAME
from policykit.targets.kueue.objects import priority_classes, queues, resource_flavors
from policykit.targets.kueue.quotas import Quotas, quotas

NAMESPACE = "kueue-system"
README = f"{TARGET_NAME}/README.md"


def generate(cluster: Cluster) -> Generated:
    """All files for `cluster.targets["kueue"]`; none if the policy has no such target.

    Raises PolicykitError for an unknown version, and for queues that Kueue would reject.
    """
    target = cluster.targets.get(TARGET_NAME)
    if target is None:
        return Generated()
    version, chosen = versions.parse(target.version), options.of(cluster)
    made = pool_flavors(cluster, version)
    shared = quotas(cluster, made.flavors, chosen, version)
    artifacts = [
        Artifact(f"{TARGET_NAME}/{name}.yaml", writer.dump_all(objects), Role.MANIFEST)
        for name, objects in _objects(cluster, made, shared, version).items()
        if objects
    ]
    paths = [artifact.path for artifact in artifacts]
    text = _readme(paths, target.namespace or NAMESPACE, version)
    messages = (*made.notices, *shared.notices, *notices.notices(cluster, chosen, version))
    return Generated(
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
        "priorities": [priority_classes.write(each, version) for each in cluster.priorities],
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
