"""Fields of pods and their owners that Volcano reads: the gang with its PodGroup, and its topology."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policykit.kube.names import dns_subdomain_problem
from policykit.kube.requests import amounts
from policykit.manifests.shape import mapping, text, whole
from policykit.model.cluster import Cluster
from policykit.model.pod_fields import PodContext, PodFields
from policykit.model.pool import Amounts
from policykit.model.quantity import resource_list
from policykit.model.release import Version
from policykit.model.workload import WorkloadKind
from policykit.namedtuple import NamedTuple
from policykit.targets.volcano import options, versions
from policykit.targets.volcano.names import (
    GROUP_MIN_MEMBER,
    GROUP_NAME,
    SCHEDULER,
    TOPOLOGY_MODE,
    TOPOLOGY_TIER,
)
from policykit.targets.volcano.objects import topology
from policykit.targets.volcano.objects.topology import (
    NetworkTopology,
    read_network_topology,
    write_network_topology,
)

API_VERSION = "scheduling.volcano.sh/v1beta1"


class PodGroup(NamedTuple):
    """Pods that start when `min_member` of them fit together."""

    namespace: str
    name: str
    min_member: int = 1
    queue: str = ""
    """Empty: `default`, or the queue of the namespace if the webhook for it is on."""
    priority_class: str = ""
    min_resources: Amounts = {}
    """Resources that must be free before the pods are considered (action enqueue)."""
    bound: NetworkTopology | None = None
    min_task_member: Mapping[str, int] = {}
    """Task of a job to the number of its pods that must fit."""


def write_pod_group(group: PodGroup) -> dict[str, Any]:
    """The object."""
    metadata = {"name": group.name}
    if group.namespace:
        metadata["namespace"] = group.namespace
    spec: dict[str, Any] = {"minMember": group.min_member}
    if group.min_task_member:
        spec["minTaskMember"] = dict(sorted(group.min_task_member.items()))
    if group.queue:
        spec["queue"] = group.queue
    if group.priority_class:
        spec["priorityClassName"] = group.priority_class
    if group.min_resources:
        spec["minResources"] = resource_list(group.min_resources)
    if group.bound:
        spec["networkTopology"] = write_network_topology(group.bound)
    return {"apiVersion": API_VERSION, "kind": "PodGroup", "metadata": metadata, "spec": spec}


def read_pod_group(data: Mapping[str, Any]) -> PodGroup:
    """A PodGroup. Fields that are missing or have the wrong type are empty, minMember 0."""
    metadata, spec = mapping(data.get("metadata")), mapping(data.get("spec"))
    tasks = mapping(spec.get("minTaskMember"))
    return PodGroup(
        text(metadata.get("namespace")),
        text(metadata.get("name")),
        whole(spec.get("minMember")) or 0,
        text(spec.get("queue")),
        text(spec.get("priorityClassName")),
        amounts(spec.get("minResources")),
        read_network_topology(spec.get("networkTopology")),
        {name: number for name, value in tasks.items() if (number := whole(value)) is not None},
    )


_GROUPED = frozenset({"Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "Job", "CronJob", ""})
"""Owners for whose pods Volcano's controller creates one PodGroup; empty: any of them."""
_BY_OPERATOR = frozenset(
    {
        *("JAXJob", "MPIJob", "PaddleJob", "PyTorchJob", "TFJob", "TrainJob", "XGBoostJob"),
        *("RayCluster", "RayJob", "RayService", "SparkApplication", "ScheduledSparkApplication"),
        "LeaderWorkerSet",
    }
)
"""Owners whose operator creates the PodGroup if it is set to use Volcano."""


class _Gang(NamedTuple):
    size: int | None
    """None: no gang, or of unknown size."""
    notices: tuple[str, ...] = ()


def fields(kind: WorkloadKind, cluster: Cluster, pods: PodContext) -> PodFields:
    """Annotations of pods and owner for a kind's gang and network topology, or a PodGroup.

    For pods that Volcano schedules and that no Volcano Job creates (see `job_patches`). A kind that needs
    neither gets nothing: Volcano creates a group of one for each
    owner. Source: `controllers/podgroup` (1.8 to 1.15).
    """
    if kind.gang != "all" and not kind.within:
        return PodFields()
    if pods.owner_kind in _BY_OPERATOR:
        return PodFields(notices=(_by_operator(kind, pods.owner_kind),))
    target = cluster.targets.get(SCHEDULER)
    version = versions.parse(target.version if target else "")
    gang = _gang(kind, pods)
    made = _gang_fields(kind, cluster, pods, gang.size, version)
    late = tuple(_timeout_notices(kind)) if kind.gang == "all" and pods.owner else ()
    return made._replace(notices=(*gang.notices, *made.notices, *late))


def _by_operator(kind: WorkloadKind, owner_kind: str) -> str:
    made = f"the operator of {owner_kind} creates the PodGroup if it is set to use Volcano"
    close = f"; the network topology of workload kind {kind.name} is not written: set it in its own fields"
    return made + (close if kind.within else "")


def _gang(kind: WorkloadKind, pods: PodContext) -> _Gang:
    if kind.gang != "all":
        return _Gang(None)
    stated = kind.gang_rule.size if kind.gang_rule else None
    replicas = [members.replicas for members in pods.job]
    if not replicas or None in replicas:
        # A component is for any workload, each with its own number of pods.
        unknown = "the number of pods that start together is not fixed: set gang.size in the policy"
        return _Gang(stated, (unknown,) if replicas and not stated else ())
    total = sum(number or 0 for number in replicas)
    if pods.owner_kind == "Pod":
        lone = "a single Pod joins a gang only by the annotation scheduling.k8s.io/group-name"
        return _Gang(None, (lone,) if stated and stated > 1 else ())
    if stated and stated > total:
        few = f"the policy asks for a gang of {stated}, but there are {total} pods: the gang is all of them"
        return _Gang(total, (few,))
    return _Gang(stated or total)


def _gang_fields(
    kind: WorkloadKind, cluster: Cluster, pods: PodContext, size: int | None, version: Version
) -> PodFields:
    """Annotations if Volcano's own PodGroup takes them, or else a PodGroup."""
    grouped = pods.owner_kind in _GROUPED
    by_owner = grouped and version >= versions.GROUP_SIZE
    by_pods = (grouped or pods.owner_kind == "Pod") and version >= versions.POD_TOPOLOGY
    wants_size = size is not None and size > 1
    wants_place = kind.within is not None and pods.owner_kind != "Pod"
    if wants_size and options.volcano_options(cluster.targets.get(SCHEDULER)).gang_objects:
        return _own_group(kind, cluster, pods, size or 1, version)
    if (not wants_size or by_owner) and (not wants_place or by_pods or version < versions.TOPOLOGY):
        place = _topology_annotations(kind, cluster, version) if wants_place else {}
        owner = {GROUP_MIN_MEMBER: str(size)} if wants_size else {}
        rollout = tuple(_rollout(pods.owner_kind, size or 1)) if wants_size and pods.owner else ()
        return PodFields(
            annotations=place, owner_annotations=owner, notices=(*rollout, *_topology_notices(kind, version))
        )
    return _own_group(kind, cluster, pods, size or 1, version)


def _topology_annotations(kind: WorkloadKind, cluster: Cluster, version: Version) -> dict[str, str]:
    bound = topology.network_topology(kind.within, cluster, version, named=False) if kind.within else None
    if bound is None:
        return {}
    return {TOPOLOGY_MODE: bound.mode, TOPOLOGY_TIER: str(bound.tier)}


def _own_group(
    kind: WorkloadKind, cluster: Cluster, pods: PodContext, size: int, version: Version
) -> PodFields:
    if not pods.owner:
        return PodFields(
            notices=(
                f"Volcano {version} needs a PodGroup object for this, one for each workload: "
                "`policykit patch` writes it",
            )
        )
    problem = dns_subdomain_problem(pods.owner)
    if problem:
        return PodFields(notices=(f"no PodGroup can be named after {pods.owner!r}: it {problem}",))
    bound = topology.network_topology(kind.within, cluster, version) if kind.within else None
    group = PodGroup(
        pods.namespace,
        pods.owner,
        size,
        kind.queue,
        kind.priority_class,
        _gang_requests(pods, size),
        bound,
    )
    ordered = tuple(_rollout(pods.owner_kind, size)) if pods.owner_kind == "StatefulSet" else ()
    return PodFields(
        annotations={GROUP_NAME: pods.owner},
        objects=(write_pod_group(group),),
        notices=(*ordered, *_topology_notices(kind, version)),
    )


def _gang_requests(pods: PodContext, size: int) -> dict[str, int]:
    """What the first `size` pods request together; empty if that depends on which they are."""
    total = sum(members.replicas or 0 for members in pods.job)
    if len(pods.job) != 1 and total != size:
        return {}
    found: dict[str, int] = {}
    for members in pods.job:
        times = size if len(pods.job) == 1 else members.replicas or 0
        for resource, amount in members.requests.items():
            if amount * times:
                found[resource] = found.get(resource, 0) + amount * times
    return found


def _rollout(owner_kind: str, size: int) -> Iterator[str]:
    """Notices about controllers that create pods one after another, which never complete a gang."""
    if owner_kind == "Deployment":
        yield (
            f"each ReplicaSet of a Deployment is a gang of its own, so {size} new pods start together or "
            "not at all: roll out with strategy Recreate, or maxSurge 100%"
        )
    if owner_kind == "StatefulSet":
        yield (
            "a StatefulSet creates its next pod when the last one is ready, so a gang needs "
            "podManagementPolicy Parallel"
        )


def _topology_notices(kind: WorkloadKind, version: Version) -> Iterator[str]:
    if kind.within and version < versions.TOPOLOGY:
        yield topology.unsupported(version, kind.within.level)


def _timeout_notices(kind: WorkloadKind) -> Iterator[str]:
    """Notices about timeouts; waiting needs none, since Volcano reserves nothing for a gang."""
    rule = kind.gang_rule
    if rule and rule.on_timeout == "start":
        yield (
            "Volcano cannot start part of a gang after a timeout. Nearest: a smaller gang size, with the "
            "other pods following when they fit"
        )
    if rule and rule.timeout and rule.on_timeout == "fail":
        yield (
            "a PodGroup has no timeout. Nearest: activeDeadlineSeconds of a Job, or the policies of a "
            "Volcano Job"
        )
