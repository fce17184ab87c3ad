"""README of Kueue's generated files: what each is and how to apply it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from policykit.targets.release import Version

_ROWS: Mapping[str, str] = {
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
_NAMESPACES = (
    "Kueue manages the namespaces that `managedJobsNamespaceSelector` of its Configuration selects: the "
    "tenants' namespaces must be among them."
)


def text(paths: Sequence[str], namespace: str, version: Version) -> str:
    """Markdown for the files at `paths`."""
    names = [path.rpartition("/")[2] for path in paths]
    rows = "\n".join(f"- `{name}`: {_ROWS[name]}" for name in names)
    apply = (
        f"Kueue runs in namespace `{namespace}`. Its webhooks must be ready before the objects are applied: "
        "`kubectl apply -f .` in this folder, or use the kustomization in the parent folder."
    )
    return "\n\n".join((f"# Kueue {version}", rows, apply, _NAMESPACES)) + "\n"
