"""ClusterQueue, Cohort, LocalQueue and WorkloadPriorityClass, written and read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policykit.manifests.shape import mapping, mappings, pairs, text, texts, whole
from policykit.model.quantity import amount, amount_text
from policykit.model.queue import Priority
from policykit.model.release import Version
from policykit.namedtuple import NamedTuple
from policykit.targets.kueue import versions
from policykit.targets.kueue.names import NAMESPACE_NAME
from policykit.targets.kueue.objects import resource_flavors
from policykit.targets.kueue.objects.resource_flavors import ResourceGroup, StatedResources

WORKLOAD_PRIORITY_CLASS = "WorkloadPriorityClass"


def write_priority_class(priority: Priority, version: Version) -> dict[str, Any]:
    """The object, in the API version of the release. It has no default and no preemption policy."""
    description = {"description": priority.description} if priority.description else {}
    return {
        "apiVersion": versions.api_version(WORKLOAD_PRIORITY_CLASS, version),
        "kind": WORKLOAD_PRIORITY_CLASS,
        "metadata": {"name": priority.name},
        "value": priority.value,
        **description,
    }


def read_priority_class(data: Mapping[str, Any]) -> Priority:
    """A WorkloadPriorityClass. Fields that are missing or have the wrong type are empty, the value 0."""
    name = text(mapping(data.get("metadata")).get("name"))
    return Priority(name, whole(data.get("value")) or 0, description=text(data.get("description")))


CLUSTER_QUEUE = "ClusterQueue"
_WEIGHT = "weight"


class Preemption(NamedTuple):
    """Which workloads may be preempted, in Kueue's terms; empty: Never."""

    within_queue: str = ""
    """LowerPriority or LowerOrNewerEqualPriority."""
    reclaim: str = ""
    """LowerPriority or Any, in queues of the cohort that use more than their quota."""
    borrow: str = ""
    """LowerPriority, for workloads that borrow."""
    borrow_threshold: int | None = None
    """The highest priority that such workloads preempt; None: any below their own."""


class Fungibility(NamedTuple):
    """When the next flavor is tried before this one is exhausted; empty: the default."""

    when_can_borrow: str = ""
    when_can_preempt: str = ""
    preference: str = ""


class ClusterQueue(NamedTuple):
    """Quotas, and the namespaces that may use them."""

    name: str
    groups: tuple[ResourceGroup, ...] = ()
    cohort: str = ""
    namespaces: tuple[str, ...] | None = None
    """Names of the namespaces that may use it; None: all of them."""
    strategy: str = ""
    """StrictFIFO; empty: BestEffortFIFO."""
    preemption: Preemption = Preemption()
    fungibility: Fungibility = Fungibility()
    weight: int | None = None
    """Weight for fair sharing; None: 1."""
    stated: StatedResources | None = None
    """Resources that the policy states; None: unknown."""


def write_cluster_queue(queue: ClusterQueue, version: Version) -> dict[str, Any]:
    """The object, in the API version of the release."""
    spec: dict[str, Any] = {}
    if queue.cohort:
        spec[cohort_field(version)] = queue.cohort
    spec["namespaceSelector"] = _selector(queue.namespaces)
    if queue.strategy:
        spec["queueingStrategy"] = queue.strategy
    if any(queue.preemption):
        spec["preemption"] = _preemption(queue.preemption)
    if any(queue.fungibility):
        spec["flavorFungibility"] = _fungibility(queue.fungibility)
    if queue.weight is not None:
        spec["fairSharing"] = fair_sharing(queue.weight)
    if queue.groups:
        spec["resourceGroups"] = [resource_flavors.write_group(group) for group in queue.groups]
    return {
        "apiVersion": versions.api_version(CLUSTER_QUEUE, version),
        "kind": CLUSTER_QUEUE,
        "metadata": {"name": queue.name, **resource_flavors.stated_metadata(queue.stated)},
        "spec": spec,
    }


def cohort_field(version: Version) -> str:
    """The field that names the cohort."""
    return "cohortName" if version >= versions.V1BETA2 else "cohort"


def fair_sharing(weight: int) -> dict[str, str]:
    """`fairSharing` of ClusterQueues and Cohorts; the weight is a quantity."""
    return {_WEIGHT: amount_text(_WEIGHT, weight)}


def read_weight(spec: Mapping[str, Any]) -> int | None:
    """The weight of `fairSharing`, rounded up; None: it is not set."""
    return amount(_WEIGHT, mapping(spec.get("fairSharing")).get(_WEIGHT))


def _selector(namespaces: tuple[str, ...] | None) -> dict[str, Any]:
    if namespaces is None:
        return {}
    values = {"key": NAMESPACE_NAME, "operator": "In", "values": list(namespaces)}
    return {"matchExpressions": [values]}


def _preemption(found: Preemption) -> dict[str, Any]:
    written: dict[str, Any] = {}
    if found.within_queue:
        written["withinClusterQueue"] = found.within_queue
    if found.reclaim:
        written["reclaimWithinCohort"] = found.reclaim
    if found.borrow:
        threshold = {"maxPriorityThreshold": found.borrow_threshold}
        written["borrowWithinCohort"] = {
            "policy": found.borrow,
            **(threshold if found.borrow_threshold is not None else {}),
        }
    return written


def _fungibility(found: Fungibility) -> dict[str, str]:
    fields = ("whenCanBorrow", "whenCanPreempt", "preference")
    return {field: value for field, value in zip(fields, found, strict=True) if value}


def read_cluster_queue(data: Mapping[str, Any]) -> ClusterQueue:
    """A ClusterQueue of any version. Fields that are missing or have the wrong type are empty.

    A namespaceSelector that does not select by name is ignored.
    """
    spec = mapping(data.get("spec"))
    fungibility = mapping(spec.get("flavorFungibility"))
    return ClusterQueue(
        text(mapping(data.get("metadata")).get("name")),
        resource_flavors.read_groups(spec.get("resourceGroups")),
        text(spec.get("cohortName") or spec.get("cohort")),
        _namespaces(mapping(spec.get("namespaceSelector"))),
        text(spec.get("queueingStrategy")),
        _read_preemption(mapping(spec.get("preemption"))),
        Fungibility(
            *(text(fungibility.get(field)) for field in ("whenCanBorrow", "whenCanPreempt", "preference"))
        ),
        read_weight(spec),
        resource_flavors.read_stated(data),
    )


def _namespaces(selector: Mapping[str, Any]) -> tuple[str, ...] | None:
    labels, expressions = mapping(selector.get("matchLabels")), mappings(selector.get("matchExpressions"))
    if not expressions and labels.keys() == {NAMESPACE_NAME}:
        return (text(labels[NAMESPACE_NAME]),)
    if not labels and len(expressions) == 1:
        (only,) = expressions
        if only.get("key") == NAMESPACE_NAME and only.get("operator") == "In":
            return texts(only.get("values"))
    return None


def _read_preemption(data: Mapping[str, Any]) -> Preemption:
    borrow = mapping(data.get("borrowWithinCohort"))
    return Preemption(
        text(data.get("withinClusterQueue")),
        text(data.get("reclaimWithinCohort")),
        text(borrow.get("policy")),
        whole(borrow.get("maxPriorityThreshold")),
    )


COHORT = "Cohort"


class Cohort(NamedTuple):
    """ClusterQueues and Cohorts that share quota."""

    name: str
    parent: str = ""
    groups: tuple[ResourceGroup, ...] = ()
    """Quota that all queues below share, in addition to their own."""
    weight: int | None = None
    """Weight for fair sharing; None: 1."""
    stated: StatedResources | None = None
    """Resources that the policy states; None: unknown."""


def write_cohort(cohort: Cohort, version: Version) -> dict[str, Any]:
    """The object, in the API version of the release."""
    spec: dict[str, Any] = {}
    if cohort.parent:
        spec[parent_field(version)] = cohort.parent
    if cohort.weight is not None:
        spec["fairSharing"] = fair_sharing(cohort.weight)
    if cohort.groups:
        spec["resourceGroups"] = [resource_flavors.write_group(group) for group in cohort.groups]
    return {
        "apiVersion": versions.api_version(COHORT, version),
        "kind": COHORT,
        "metadata": {"name": cohort.name, **resource_flavors.stated_metadata(cohort.stated)},
        **({"spec": spec} if spec else {}),
    }


def parent_field(version: Version) -> str:
    """The field that names the parent."""
    return "parentName" if version >= versions.COHORT_V1BETA1 else "parent"


def read_cohort(data: Mapping[str, Any]) -> Cohort:
    """A Cohort of any version. Fields that are missing or have the wrong type are empty."""
    spec = mapping(data.get("spec"))
    return Cohort(
        text(mapping(data.get("metadata")).get("name")),
        text(spec.get("parentName") or spec.get("parent")),
        resource_flavors.read_groups(spec.get("resourceGroups")),
        read_weight(spec),
        resource_flavors.read_stated(data),
    )


LOCAL_QUEUE = "LocalQueue"
_TENANT = "policykit.io/tenant"
"""Annotation of policykit: the tenant of the namespace."""


class LocalQueue(NamedTuple):
    """The name under which a namespace uses a ClusterQueue."""

    name: str
    namespace: str
    cluster_queue: str
    tenant: str | None = None
    """Tenant of the namespace; empty: it belongs to a workload kind; None: unknown."""


def write_local_queue(queue: LocalQueue, version: Version) -> dict[str, Any]:
    """The object, in the API version of the release."""
    tenant = {"annotations": {_TENANT: queue.tenant}} if queue.tenant is not None else {}
    return {
        "apiVersion": versions.api_version(LOCAL_QUEUE, version),
        "kind": LOCAL_QUEUE,
        "metadata": {"name": queue.name, "namespace": queue.namespace, **tenant},
        "spec": {"clusterQueue": queue.cluster_queue},
    }


def read_local_queue(data: Mapping[str, Any]) -> LocalQueue:
    """A LocalQueue. Fields that are missing or have the wrong type are empty."""
    metadata = mapping(data.get("metadata"))
    return LocalQueue(
        text(metadata.get("name")),
        text(metadata.get("namespace")),
        text(mapping(data.get("spec")).get("clusterQueue")),
        pairs(metadata.get("annotations")).get(_TENANT),
    )
