"""What policykit writes for Kueue: flavors, topologies, queues, priorities and a page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from policykit.generator.artifact import Artifact, Generated, Notice, Role
from policykit.manifests import writer
from policykit.model.cluster import Cluster
from policykit.targets.kueue import flavors, limitations, options, page, quotas, tenancy, versions
from policykit.targets.kueue.names import SYSTEM
from policykit.targets.kueue.objects import (
    cluster_queues,
    cohorts,
    local_queues,
    priority_classes,
    resource_flavors,
    topologies,
)
from policykit.targets.release import Version

NAMESPACE = "kueue-system"
PAGE = f"{SYSTEM}/README.md"


def generate(cluster: Cluster) -> Generated:
    """Everything for `cluster.targets["kueue"]`; nothing where the policy has no such target.

    Raises PolicykitError for an unknown version, and for queues that Kueue would reject.
    """
    target = cluster.targets.get(SYSTEM)
    if target is None:
        return Generated()
    version, chosen = versions.parse(target.version), options.of(cluster)
    made = flavors.of_pools(cluster, version)
    shared = quotas.quotas(cluster, made.flavors, chosen, version)
    artifacts = [
        Artifact(f"{SYSTEM}/{name}.yaml", writer.dump_all(objects), Role.MANIFEST)
        for name, objects in _objects(cluster, made, shared, version).items()
        if objects
    ]
    paths = [artifact.path for artifact in artifacts]
    text = page.text(paths, target.namespace or NAMESPACE, version)
    messages = (*made.notices, *shared.notices, *limitations.notices(cluster, chosen, version))
    return Generated(
        (*artifacts, Artifact(PAGE, text, Role.PAGE)), tuple(Notice(SYSTEM, message) for message in messages)
    )


def _objects(
    cluster: Cluster, made: flavors.Flavors, shared: quotas.Quotas, version: Version
) -> Mapping[str, list[dict[str, Any]]]:
    """Name of a file to its objects: what others refer to comes first."""
    tree: Iterable[dict[str, Any]] = (
        *(cohorts.write(each, version) for each in shared.cohorts),
        *(cluster_queues.write(each, version) for each in shared.queues),
    )
    return {
        "topologies": [topologies.write(each, version) for each in made.topologies],
        "flavors": [resource_flavors.write(each.flavor, version) for each in made.flavors],
        "queues": list(tree),
        "local-queues": [local_queues.write(each, version) for each in tenancy.local_queues(cluster)],
        "priorities": [priority_classes.write(each, version) for each in cluster.priorities],
    }
