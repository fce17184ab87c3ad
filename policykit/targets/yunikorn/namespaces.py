"""Annotations that assign a tenant's namespaces to its queue, as a component for their owners.

No Namespace objects are written: deleting one would delete the namespace with everything in it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from policykit.generator.artifact import Artifact, Role
from policykit.manifests.writer import dump
from policykit.model.cluster import Cluster
from policykit.model.quantity import amount_text
from policykit.model.queue import Quota
from policykit.namedtuple import NamedTuple
from policykit.targets.yunikorn.names import NAMESPACE_QUOTA, PARENT_QUEUE

FOLDER = "yunikorn/namespaces"


class Namespace(NamedTuple):
    """A namespace of a tenant."""

    name: str
    tenant: str
    queue: str
    """Full path of a leaf, or of the parent of the namespace's own queue."""
    quota: str = ""
    """JSON with the max of its own queue; for namespaces below a parent queue."""

    @property
    def annotations(self) -> dict[str, str]:
        quota = {NAMESPACE_QUOTA: self.quota} if self.quota else {}
        return {PARENT_QUEUE: self.queue, **quota}

    @property
    def path(self) -> str:
        return f"{FOLDER}/{self.tenant}/{self.name}.yaml"


def namespaces(cluster: Cluster, paths: Mapping[str, str], parents: Iterable[str]) -> list[Namespace]:
    """Namespaces of every tenant with a queue. `paths` by queue; `parents` are queues with children."""
    holding = frozenset(parents)
    found = [
        Namespace(
            name,
            tenant.name,
            paths[tenant.queue],
            quota_text(name, cluster.quotas) if tenant.queue in holding else "",
        )
        for tenant in cluster.tenants
        if tenant.queue in paths
        for name in tenant.namespaces
    ]
    return sorted(found)


def quota_text(namespace: str, quotas: Sequence[Quota]) -> str:
    """Annotation with the smallest amounts that the quotas of a namespace allow for all its pods."""
    most: dict[str, int] = {}
    for quota in quotas:
        if quota.namespace == namespace and not quota.priorities:
            for resource, amount in quota.requests.items():
                most[resource] = min(amount, most.get(resource, amount))
    if not any(most.values()):
        return ""
    return json.dumps({resource: amount_text(resource, most[resource]) for resource in sorted(most)})


def artifacts(listed: Sequence[Namespace]) -> list[Artifact]:
    """The component and a patch for each namespace; nothing without namespaces."""
    if not listed:
        return []
    component = {
        "apiVersion": "kustomize.config.k8s.io/v1alpha1",
        "kind": "Component",
        "patches": [
            {
                "path": each.path.removeprefix(f"{FOLDER}/"),
                "target": {"kind": "Namespace", "name": each.name},
            }
            for each in listed
        ],
    }
    patches = [Artifact(each.path, dump(_patch(each)), Role.COMPONENT) for each in listed]
    return [Artifact(f"{FOLDER}/kustomization.yaml", dump(component), Role.COMPONENT), *patches]


def _patch(each: Namespace) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": each.name, "annotations": each.annotations},
    }


def commands(listed: Sequence[Namespace]) -> list[str]:
    """kubectl commands, for namespaces that are in no kustomization."""
    return [
        f"kubectl annotate --overwrite namespace {each.name} "
        + " ".join(f"{key}='{value}'" for key, value in each.annotations.items())
        for each in listed
    ]
