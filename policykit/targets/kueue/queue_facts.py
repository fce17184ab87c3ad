"""Facts from Kueue's objects and from pods with topology requests, and how Kueue treats queues."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from policykit.kube import tolerations
from policykit.kube.placeholders import is_placeholder
from policykit.kube.podsets.podset import PodSet
from policykit.kube.podsets.queues import read as read_queue
from policykit.linter.rule import Context
from policykit.linter.scope import Fact
from policykit.manifests.document import Manifest
from policykit.manifests.path import Path
from policykit.manifests.shape import mapping, mappings, texts
from policykit.model.declared_queues import DeclaredQueue
from policykit.model.kueue import (
    AdmittedPods,
    DeclaredClusterQueue,
    DeclaredCohort,
    DeclaredFlavor,
    DeclaredLocalQueue,
    DeclaredTopology,
    TopologyRequest,
)
from policykit.model.quantity import amount
from policykit.model.queue_semantics import PolicyQueues, QueueSemantics
from policykit.targets.kueue import refused_pods
from policykit.targets.kueue.names import (
    GROUP,
    PREFERRED_TOPOLOGY,
    REQUIRED_TOPOLOGY,
    SLICE_TOPOLOGY,
    TARGET_NAME,
)
from policykit.targets.kueue.objects import queues, resource_flavors

if TYPE_CHECKING:
    from policykit.model.cluster import Cluster

_NAME: Path = ("metadata", "name")
_STOPPED = ("Hold", "HoldAndDrain")
_LEVELS = (REQUIRED_TOPOLOGY, PREFERRED_TOPOLOGY, SLICE_TOPOLOGY)


def facts(manifest: Manifest, pod_sets: Sequence[PodSet], context: Context) -> Iterable[Fact]:
    """The facts of an object of Kueue, or of pods with a topology request."""
    if manifest.group == GROUP and manifest.kind in _READERS:
        yield from _READERS[manifest.kind](manifest, context)
    for pod_set in pod_sets:
        if context.cluster is not None and not manifest.partial:
            yield from refused_pods.facts(manifest, pod_set, context.cluster, context.namespace)
        queue = (
            None if manifest.partial or pod_set.stored else read_queue(manifest.data, pod_set, TARGET_NAME)
        )
        if queue is not None and not is_placeholder(queue.value):
            found = tolerations.read(pod_set.spec.get("tolerations"))
            admitted = AdmittedPods(manifest.namespace or context.namespace, queue.value, found)
            yield Fact(admitted, {"tolerations": pod_set.place("tolerations")})
        for key in _LEVELS:
            if key in pod_set.annotations and pod_set.places.get("annotations"):
                request = TopologyRequest(pod_set.annotations[key], key)
                yield Fact(request, {"level": pod_set.place("annotations", key)})


def _flavor(manifest: Manifest, context: Context) -> Iterator[Fact]:
    found = resource_flavors.read_flavor(manifest.data)
    places = {"name": _NAME, "topology": ("spec", "topologyName")}
    value = DeclaredFlavor(found.name, found.topology, found.tolerations, tuple(found.labels), found.taints)
    yield Fact(value, places)


def _topology(manifest: Manifest, context: Context) -> Iterator[Fact]:
    found = resource_flavors.read_topology(manifest.data)
    yield Fact(DeclaredTopology(found.name, found.levels), {"name": _NAME}, answers=True)


def _cluster_queue(manifest: Manifest, context: Context) -> Iterator[Fact]:
    found = queues.read_cluster_queue(manifest.data)
    places: dict[str, Path] = {"name": _NAME, "cohort": _written(manifest, "cohortName", "cohort")}
    names: list[str] = []
    for path, name in flavor_places(manifest.data):
        places[f"flavor.{len(names)}"] = path
        names.append(name)
    groups = mappings(mapping(manifest.data.get("spec")).get("resourceGroups"))
    covered = frozenset(name for group in groups for name in texts(group.get("coveredResources")))
    yield Fact(DeclaredClusterQueue(found.name, found.cohort, tuple(names), covered), places)
    limit = _limit(found)
    queue = DeclaredQueue(
        TARGET_NAME,
        found.name,
        limit=limit,
        holds_queues=True,
        closed=mapping(manifest.data.get("spec")).get("stopPolicy") in _STOPPED,
        measured=all(amount("", each) is not None for each in _written_quotas(groups)),
        noun=queues.CLUSTER_QUEUE,
    )
    yield Fact(queue, {"name": _NAME})


def _written_quotas(groups: Sequence[Mapping[str, Any]]) -> Iterator[object]:
    for group in groups:
        for flavor in mappings(group.get("flavors")):
            for each in mappings(flavor.get("resources")):
                yield each.get("nominalQuota")
                yield each.get("borrowingLimit", 0)


def _limit(queue: queues.ClusterQueue) -> dict[str, int]:
    """The most that it admits of each resource, over all flavors; none if it may borrow any amount."""
    found: dict[str, int] = {}
    unbounded: set[str] = set()
    for group in queue.groups:
        for quotas in group.flavors.values():
            for resource, quota in quotas.items():
                if queue.cohort and quota.borrowing_limit is None:
                    unbounded.add(resource)
                borrowed = quota.borrowing_limit if queue.cohort else 0
                found[resource] = found.get(resource, 0) + quota.nominal + (borrowed or 0)
    return {name: most for name, most in found.items() if name not in unbounded}


def flavor_places(data: Mapping[str, object]) -> Iterator[tuple[Path, str]]:
    """Path and name of each flavor in `resourceGroups`, in order."""
    groups = mapping(data.get("spec")).get("resourceGroups")
    for number, group in enumerate(groups if isinstance(groups, list) else ()):
        flavors = mapping(group).get("flavors")
        for index, flavor in enumerate(flavors if isinstance(flavors, list) else ()):
            name = mapping(flavor).get("name")
            if isinstance(name, str):
                yield ("spec", "resourceGroups", number, "flavors", index, "name"), name


def _cohort(manifest: Manifest, context: Context) -> Iterator[Fact]:
    found = queues.read_cohort(manifest.data)
    places = {"name": _NAME, "parent": _written(manifest, "parentName", "parent")}
    yield Fact(DeclaredCohort(found.name, found.parent), places)


def _written(manifest: Manifest, *fields: str) -> Path:
    """Path of the first of these fields of spec that the object has."""
    spec = mapping(manifest.data.get("spec"))
    return ("spec", next((field for field in fields if field in spec), fields[0]))


def _local_queue(manifest: Manifest, context: Context) -> Iterator[Fact]:
    """A reference to its ClusterQueue, and a queue that workloads in its namespace name."""
    found = queues.read_local_queue(manifest.data)
    namespace = found.namespace or context.namespace
    places = {"name": _NAME, "cluster_queue": ("spec", "clusterQueue")}
    yield Fact(DeclaredLocalQueue(found.name, namespace, found.cluster_queue), places)
    held = mapping(manifest.data.get("spec")).get("stopPolicy") in _STOPPED
    name = f"{namespace}/{found.name}"
    queue = DeclaredQueue(TARGET_NAME, name, found.cluster_queue, namespace=namespace, closed=held)
    yield Fact(queue, {"name": _NAME})


_READERS: Mapping[str, Callable[[Manifest, Context], Iterator[Fact]]] = {
    queues.CLUSTER_QUEUE: _cluster_queue,
    queues.COHORT: _cohort,
    queues.LOCAL_QUEUE: _local_queue,
    resource_flavors.RESOURCE_FLAVOR: _flavor,
    resource_flavors.TOPOLOGY: _topology,
}


def queue_semantics(cluster: Cluster | None) -> QueueSemantics:
    """LocalQueues, which workloads name. Source: `pkg/queue/manager.go` (0.9 to 0.19).

    Rules of Kueue's own check the tree of ClusterQueues and Cohorts.
    """
    return QueueSemantics(
        "Kueue",
        "LocalQueue",
        {},
        trees=False,
        own_validator=True,
        namespaced=True,
        closed_fault="Kueue admits no workload there",
        unknown_fault="Kueue never admits a workload whose LocalQueue does not exist in its namespace",
    )


def policy_queues(cluster: Cluster) -> PolicyQueues:
    """The generated LocalQueues; none if a kind may use its queue in any namespace."""
    from policykit.targets.kueue import tenancy

    if None in tenancy.namespaces(cluster).values():
        return PolicyQueues()
    return PolicyQueues({f"{each.namespace}/{each.name}": "" for each in tenancy.local_queues(cluster)})
