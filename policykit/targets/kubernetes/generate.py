"""PriorityClasses and ResourceQuotas the policy asks for."""

from __future__ import annotations

from typing import Any

from policykit.generator.artifact import Artifact, Generated, Role
from policykit.kube.names import is_extended, is_hugepages
from policykit.manifests.writer import dump_all
from policykit.model.cluster import Cluster
from policykit.model.quantity import amount_text
from policykit.model.queue import Priority, Quota
from policykit.targets.kubernetes import preference


def generate(cluster: Cluster) -> Generated:
    """`kubernetes/priorities.yaml` and `kubernetes/quotas.yaml`, each only where needed; and what
    the default scheduler cannot promise."""
    artifacts = []
    if cluster.priorities:
        text = dump_all(priority_class(priority) for priority in cluster.priorities)
        artifacts.append(Artifact("kubernetes/priorities.yaml", text, Role.MANIFEST))
    if cluster.quotas:
        text = dump_all(resource_quota(quota) for quota in cluster.quotas)
        artifacts.append(Artifact("kubernetes/quotas.yaml", text, Role.MANIFEST))
    return Generated(tuple(artifacts), tuple(preference.notices(cluster)))


def priority_class(priority: Priority) -> dict[str, Any]:
    """A scheduling.k8s.io/v1 PriorityClass."""
    data: dict[str, Any] = {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": priority.name},
        "value": priority.value,
        "globalDefault": priority.default,
        "preemptionPolicy": "PreemptLowerPriority" if priority.preempts else "Never",
    }
    if priority.description:
        data["description"] = priority.description
    return data


def resource_quota(quota: Quota) -> dict[str, Any]:
    """A ResourceQuota of keys that count: extended resources only as `requests.<name>`."""
    hard = {f"requests.{r}": amount_text(r, amount) for r, amount in sorted(quota.requests.items())}
    for resource, amount in sorted(quota.limits.items()):
        # The API server accepts limits.<card> and never counts it: what cannot be overcommitted
        # has a limit that is its request.
        counted = is_extended(resource) or is_hugepages(resource)
        key = f"requests.{resource}" if counted else f"limits.{resource}"
        hard.setdefault(key, amount_text(resource, amount))
    if quota.pods is not None:
        hard["pods"] = str(quota.pods)
    return {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": quota.name, "namespace": quota.namespace},
        "spec": {"hard": hard},
    }
