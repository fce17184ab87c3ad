"""LocalQueue: the name under which a namespace uses a ClusterQueue, written and read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from policykit.manifests.shape import mapping, pairs, text
from policykit.targets.kueue import versions
from policykit.targets.release import Version

KIND = "LocalQueue"
_TENANT = "policykit.io/tenant"
"""Annotation of policykit: the tenant of the namespace."""


class LocalQueue(NamedTuple):
    """The name under which a namespace uses a ClusterQueue."""

    name: str
    namespace: str
    cluster_queue: str
    tenant: str | None = None
    """Tenant of the namespace; empty: it belongs to a workload kind; None: not known."""


def write(queue: LocalQueue, version: Version) -> dict[str, Any]:
    """The object, in the version that the release serves."""
    tenant = {"annotations": {_TENANT: queue.tenant}} if queue.tenant is not None else {}
    return {
        "apiVersion": versions.api_version(KIND, version),
        "kind": KIND,
        "metadata": {"name": queue.name, "namespace": queue.namespace, **tenant},
        "spec": {"clusterQueue": queue.cluster_queue},
    }


def read(data: Mapping[str, Any]) -> LocalQueue:
    """A LocalQueue object; what is absent or of another shape is empty."""
    metadata = mapping(data.get("metadata"))
    return LocalQueue(
        text(metadata.get("name")),
        text(metadata.get("namespace")),
        text(mapping(data.get("spec")).get("clusterQueue")),
        pairs(metadata.get("annotations")).get(_TENANT),
    )
