"""Facts from Kueue's objects and the pods queued in it, and how Kueue treats queues."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from policykit.kube import affinity, selectors, tolerations
from policykit.kube.placeholders import is_placeholder
from policykit.kube.podsets.podset import PodSet
from policykit.kube.podsets.queues import read as read_queue
from policykit.linter.rule import Context
from policykit.linter.scope import Fact
from policykit.manifests.document import Manifest
from policykit.manifests.path import Path
from policykit.manifests.shape import mapping, mappings, pairs, text, texts
from policykit.model.declared_queues import DeclaredQueue, PolicyQueues, QueueSemantics
from policykit.model.kueue import (
    AdmittedPods,
    CheckParameters,
    DeclaredAdmissionCheck,
    DeclaredClusterQueue,
    DeclaredCohort,
    DeclaredFlavor,
    DeclaredLocalQueue,
    DeclaredNamespace,
    DeclaredPriorityClass,
    DeclaredTopology,
    EnabledFrameworks,
    PriorityClassUse,
    QueuedKind,
    RefusedPods,
    RefusingPool,
    TopologyRequest,
)
from policykit.model.quantity import amount
from policykit.targets.kueue.names import (
    CONFIGURATION,
    CONFIGURATION_GROUP,
    GROUP,
    NAMESPACE_NAME,
    PREFERRED_TOPOLOGY,
    PRIORITY_CLASS,
    QUEUE_NAME,
    REQUIRED_TOPOLOGY,
    SLICE_TOPOLOGY,
    TARGET_NAME,
    framework_of,
)
from policykit.targets.kueue.objects import queues, resource_flavors
from policykit.targets.kueue.objects.resource_flavors import ResourceGroup

if TYPE_CHECKING:
    from policykit.model.cluster import Cluster

_WHOLE = frozenset({"batch", "jobset.x-k8s.io", "kubeflow.org"})
"""API groups of jobs that state the number of their pods."""
_ELASTIC = ("kueue.x-k8s.io/elastic-job", "kueue.x-k8s.io/job-min-parallelism")
"""Annotations of jobs that start with fewer pods."""


def admitted_together(manifest: Manifest, pod_sets: Sequence[PodSet]) -> int | None:
    """All of them; None: unknown, or they are admitted one by one.

    Source: `PodSets` of the integrations in pkg/controller/jobs (0.9 to 0.19).
    """
    numbers = [each.replicas for each in pod_sets if not each.stored]
    if manifest.group not in _WHOLE or manifest.partial or None in numbers or len(numbers) < len(pod_sets):
        return None
    if any(key in manifest.annotations for key in _ELASTIC):
        return None
    return sum(number or 0 for number in numbers) or None


def refused_pods(manifest: Manifest, pod_set: PodSet, cluster: Cluster, namespace: str) -> Iterator[Fact]:
    """Facts of pods with cards; others may run in a pool that the policy does not list."""
    queue = read_queue(manifest.data, pod_set, TARGET_NAME)
    if queue is None or is_placeholder(queue.value):
        return
    from policykit.placement.landing import untolerated_taints
    from policykit.placement.owner import may_change_after_admission
    from policykit.placement.review import review

    if may_change_after_admission(manifest, pod_set):
        return
    found = review(manifest, pod_set, cluster, namespace)
    if not found.card_resources or not found.eligible_pools or found.selects_unlisted_pool or found.accepting:
        return
    pools = tuple(
        RefusingPool(pool.name, untolerated_taints(pool, found.tolerations, found.requests))
        for pool in found.eligible_pools
    )
    if all(pool.taints for pool in pools):
        pods = RefusedPods(manifest.namespace or namespace, queue.value, pools)
        yield Fact(pods, {"tolerations": pod_set.place("tolerations")})


_NAME: Path = ("metadata", "name")
_STOPPED = ("Hold", "HoldAndDrain")
_LEVELS = (REQUIRED_TOPOLOGY, PREFERRED_TOPOLOGY, SLICE_TOPOLOGY)


def facts(manifest: Manifest, pod_sets: Sequence[PodSet], context: Context) -> Iterable[Fact]:
    """The facts of an object of Kueue, or of pods with a topology request."""
    if manifest.group == GROUP and manifest.kind in _READERS:
        yield from _READERS[manifest.kind](manifest, context)
    if manifest.kind == CONFIGURATION and manifest.group == CONFIGURATION_GROUP:
        yield from _frameworks(manifest)
    if pod_sets and manifest.labels.get(QUEUE_NAME) and not manifest.partial:
        yield from _queued(manifest)
    priority = manifest.labels.get(PRIORITY_CLASS) if pod_sets else None
    if priority and not is_placeholder(priority):
        yield Fact(PriorityClassUse(priority), {"name": ("metadata", "labels", PRIORITY_CLASS)})
    for pod_set in pod_sets:
        if context.cluster is not None and not manifest.partial:
            yield from refused_pods(manifest, pod_set, context.cluster, context.namespace)
        queue = (
            None if manifest.partial or pod_set.stored else read_queue(manifest.data, pod_set, TARGET_NAME)
        )
        if queue is not None and not is_placeholder(queue.value):
            found = tolerations.read(pod_set.spec.get("tolerations"))
            selector = pairs(pod_set.spec.get("nodeSelector"))
            namespace = manifest.namespace or context.namespace
            admitted = AdmittedPods(namespace, queue.value, found, selector, _terms(pod_set))
            places = {f"selector.{key}": pod_set.place("nodeSelector", key) for key in selector}
            places["terms"] = pod_set.place(*_REQUIRED_TERMS)
            yield Fact(admitted, {"tolerations": pod_set.place("tolerations"), **places})
        for key in _LEVELS:
            if key in pod_set.annotations and pod_set.places.get("annotations"):
                request = TopologyRequest(pod_set.annotations[key])
                yield Fact(request, {"level": pod_set.place("annotations", key)})


_REQUIRED_TERMS = (
    *("affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution"),
    "nodeSelectorTerms",
)


def _terms(pod_set: PodSet) -> tuple[tuple[tuple[str, str, tuple[str, ...]], ...], ...]:
    """None if some term says anything but expressions."""
    found = affinity.read(pod_set.spec).required or ()
    return () if any(term.fields for term in found) else tuple(_plain(term) for term in found)


def _plain(term: affinity.Term) -> tuple[tuple[str, str, tuple[str, ...]], ...]:
    return tuple((one.key, one.operator, one.values) for one in term.expressions)


def _frameworks(manifest: Manifest) -> Iterator[Fact]:
    """Of a configuration that lists any: without a list, only Jobs are admitted."""
    stated = mapping(manifest.data.get("integrations"))
    names = texts(stated.get("frameworks"))
    if names and not any(map(is_placeholder, names)):
        yield Fact(EnabledFrameworks(names, texts(stated.get("externalFrameworks"))), {}, answers=True)


def _queued(manifest: Manifest) -> Iterator[Fact]:
    name = framework_of(manifest.group, manifest.kind)
    if name and not is_placeholder(manifest.labels[QUEUE_NAME]):
        value = QueuedKind(name, manifest.kind, manifest.group)
        yield Fact(value, {"queue": ("metadata", "labels", QUEUE_NAME)})


def _flavor(manifest: Manifest, context: Context) -> Iterator[Fact]:
    found = resource_flavors.read_flavor(manifest.data)
    places = {"name": _NAME, "topology": ("spec", "topologyName")}
    value = DeclaredFlavor(found.name, found.topology, found.tolerations, found.labels, found.taints)
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
    allowed, refused = _namespaces(manifest)
    checks: list[str] = []
    for path, name in _checks(mapping(manifest.data.get("spec"))):
        places[f"check.{len(checks)}"] = path
        checks.append(name)
    limit = _limit(found)
    declared = DeclaredClusterQueue(
        found.name,
        found.cohort,
        tuple(names),
        covered,
        allowed,
        refused,
        tuple(checks),
        frozenset(_flavor_checks(mapping(manifest.data.get("spec")), names)),
        _selector(manifest),
        _nominal(found.groups),
        limit,
        len(groups),
    )
    yield Fact(declared, places)
    queue = DeclaredQueue(
        TARGET_NAME,
        found.name,
        limit=limit,
        holds_queues=True,
        closed=mapping(manifest.data.get("spec")).get("stopPolicy") in _STOPPED,
        measured=all(amount("", each) is not None for each in _written_quotas(groups)),
        serves=covered,
        noun=queues.CLUSTER_QUEUE,
    )
    yield Fact(queue, {"name": _NAME})


def _checks(spec: Mapping[str, Any]) -> Iterator[tuple[Path, str]]:
    """Path and name of each admission check."""
    listed = spec.get("admissionChecks")
    for number, name in enumerate(listed if isinstance(listed, list) else ()):
        if isinstance(name, str):
            yield ("spec", "admissionChecks", number), name
    listed = mapping(spec.get("admissionChecksStrategy")).get("admissionChecks")
    for number, each in enumerate(listed if isinstance(listed, list) else ()):
        if isinstance(name := mapping(each).get("name"), str):
            yield ("spec", "admissionChecksStrategy", "admissionChecks", number, "name"), name


def _flavor_checks(spec: Mapping[str, Any], flavors: Sequence[str]) -> Iterator[str]:
    """Names of the checks for some flavors of the queue, not all."""
    for each in mappings(mapping(spec.get("admissionChecksStrategy")).get("admissionChecks")):
        some = texts(each.get("onFlavors"))
        if some and not set(flavors) <= set(some) and isinstance(name := each.get("name"), str):
            yield name


def _admission_check(manifest: Manifest, context: Context) -> Iterator[Fact]:
    parameters = mapping(mapping(manifest.data.get("spec")).get("parameters"))
    controller = text(mapping(manifest.data.get("spec")).get("controllerName"))
    value = DeclaredAdmissionCheck(
        manifest.name, text(parameters.get("kind")), text(parameters.get("name")), controller
    )
    places: dict[str, Path] = {"name": _NAME, "parameters": ("spec", "parameters", "name")}
    yield Fact(value, {**places, "controller": ("spec", "controllerName")})


def _check_parameters(manifest: Manifest, context: Context) -> Iterator[Fact]:
    yield Fact(CheckParameters(manifest.kind, manifest.name), {}, answers=True)


def _namespaces(manifest: Manifest) -> tuple[frozenset[str] | None, frozenset[str]]:
    """The namespaces that a ClusterQueue selects, and those that it excludes, by the label of their name.

    Without a selector it selects none: the API server defaults it to null.
    """
    stated = mapping(manifest.data.get("spec")).get("namespaceSelector")
    if stated is None:
        return frozenset(), frozenset()
    allowed: frozenset[str] | None = None
    refused: frozenset[str] = frozenset()
    name = pairs(mapping(stated).get("matchLabels")).get(NAMESPACE_NAME)
    if name is not None:
        allowed = frozenset({name})
    for each in selectors.read_all(mapping(stated).get("matchExpressions")):
        if each.key == NAMESPACE_NAME and each.operator == "In":
            allowed = frozenset(each.values) & (allowed if allowed is not None else frozenset(each.values))
        elif each.key == NAMESPACE_NAME and each.operator == "NotIn":
            refused |= frozenset(each.values)
    return allowed, refused


def _selector(manifest: Manifest) -> tuple[tuple[str, str, tuple[str, ...]], ...]:
    stated = mapping(mapping(manifest.data.get("spec")).get("namespaceSelector"))
    labels = [(key, "In", (value,)) for key, value in pairs(stated.get("matchLabels")).items()]
    expressions = selectors.read_all(stated.get("matchExpressions"))
    known = [(each.key, each.operator, each.values) for each in expressions if not selectors.problem(each)]
    return tuple(each for each in (*labels, *known) if each[0] != NAMESPACE_NAME)


def namespaces(manifest: Manifest, pod_sets: Sequence[PodSet], context: Context) -> Iterator[Fact]:
    """What ClusterQueues select by their labels."""
    if manifest.kind == "Namespace" and not manifest.group:
        yield Fact(DeclaredNamespace(manifest.name, pairs(manifest.labels)), {}, answers=True)


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


def _nominal(groups: Sequence[ResourceGroup]) -> dict[str, int]:
    found: dict[str, int] = {}
    for group in groups:
        for quotas in group.flavors.values():
            for resource, quota in quotas.items():
                found[resource] = found.get(resource, 0) + quota.nominal
    return found


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
    parent = _written(manifest, "parentName", "parent")
    places: dict[str, Path] = {"name": _NAME, "parent": parent, "quota": ("spec", "resourceGroups")}
    quotas = [each for group in found.groups for flavor in group.flavors.values() for each in flavor.values()]
    limited = any(each.borrowing_limit is not None or each.lending_limit is not None for each in quotas)
    yield Fact(DeclaredCohort(found.name, found.parent, _nominal(found.groups), limited), places)


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


def _priority_class(manifest: Manifest, context: Context) -> Iterator[Fact]:
    yield Fact(DeclaredPriorityClass(manifest.name), {}, answers=True)


_READERS: Mapping[str, Callable[[Manifest, Context], Iterator[Fact]]] = {
    queues.CLUSTER_QUEUE: _cluster_queue,
    queues.COHORT: _cohort,
    queues.LOCAL_QUEUE: _local_queue,
    resource_flavors.RESOURCE_FLAVOR: _flavor,
    resource_flavors.TOPOLOGY: _topology,
    "WorkloadPriorityClass": _priority_class,
    "AdmissionCheck": _admission_check,
    "ProvisioningRequestConfig": _check_parameters,
    "MultiKueueConfig": _check_parameters,
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
