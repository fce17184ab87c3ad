"""What is read of a cluster: known kinds, and which of them the API server serves; never a Secret."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from enum import Enum
from functools import cache
from typing import Any

from policykit.kube.podsets import table
from policykit.live.client import Client, NotServedError
from policykit.namedtuple import NamedTuple


class Role(Enum):
    """What a kind is read for."""

    NODES = "nodes"
    WORKLOADS = "workloads"
    """Objects that make pods, and pods themselves."""
    QUOTAS = "quotas"
    """Queues, quotas, priorities, gangs and other objects that decide about pods."""
    CONFIGURATIONS = "configurations"
    """What may hold the configuration of a scheduler. Read only where schedulers run."""


class Kind(NamedTuple):
    """A kind of objects, whatever its version."""

    group: str
    """Empty: the core group."""
    name: str
    role: Role

    @property
    def shown(self) -> str:
        """`Deployment`; `Job.batch.volcano.sh` where Kubernetes or another system has a kind of the name."""
        return self.name if self in _first_of_names() else f"{self.name}.{self.group}"


_QUOTAS = {
    "": ("LimitRange", "Namespace", "PersistentVolume", "PersistentVolumeClaim", "ResourceQuota"),
    "admissionregistration.k8s.io": ("MutatingAdmissionPolicy",),
    "amd.com": ("DeviceConfig",),
    "autoscaling": ("HorizontalPodAutoscaler",),
    "autoscaling.k8s.io": ("VerticalPodAutoscaler",),
    "scheduling.k8s.io": ("PriorityClass", "PodGroup", "Workload"),
    "scheduling.volcano.sh": ("Queue", "PodGroup"),
    "topology.volcano.sh": ("HyperNode",),
    "shard.volcano.sh": ("NodeShard",),
    "storage.k8s.io": ("StorageClass",),
    "training.volcano.sh": ("HyperJob",),
    "scheduling.sigs.k8s.io": ("ElasticQuota", "PodGroup"),
    "scheduling.x-k8s.io": ("ElasticQuota", "PodGroup"),
    "scheduling.koordinator.sh": ("ClusterNetworkTopology", "Reservation"),
    "quota.koordinator.sh": ("ElasticQuotaProfile",),
    "config.koordinator.sh": ("ClusterColocationProfile", "ColocationConfiguration"),
    "kueue.x-k8s.io": (
        "AdmissionCheck",
        "ClusterQueue",
        "Cohort",
        "LocalQueue",
        "MultiKueueConfig",
        "ProvisioningRequestConfig",
        "ResourceFlavor",
        "Topology",
        "WorkloadPriorityClass",
    ),
    "karpenter.azure.com": ("AKSNodeClass",),
    "karpenter.k8s.aws": ("EC2NodeClass",),
    "karpenter.sh": ("NodePool", "Provisioner"),
    "kai.scheduler": ("SchedulingShard",),
    "node.k8s.io": ("RuntimeClass",),
    "policy": ("PodDisruptionBudget",),
    "resource.k8s.io": ("DeviceClass", "ResourceClaim", "ResourceClaimTemplate"),
    "nfd.k8s-sigs.io": ("NodeFeatureRule",),
    "kubeflow.org": ("Profile",),
    "capsule.clastix.io": ("ResourcePool", "Tenant"),
    "config.kiosk.sh": ("AccountQuota",),
    "hnc.x-k8s.io": ("HierarchicalResourceQuota",),
    "quota.kubesphere.io": ("ResourceQuota",),
    "quota.openshift.io": ("ClusterResourceQuota",),
    "kubevirt.io": ("KubeVirt", "VirtualMachine", "VirtualMachineInstance"),
    "kyverno.io": ("ClusterPolicy", "Policy"),
    "nvidia.com": ("ClusterPolicy",),
    "scheduling.run.ai": ("PodGroup", "Queue"),
}
"""API group to kinds that make no pods but decide about them."""
_BUILT_IN = frozenset({"", "apps", "autoscaling", "batch", "scheduling.k8s.io"})

NODE = Kind("", "Node", Role.NODES)
POD = Kind("", "Pod", Role.WORKLOADS)
CONFIG_MAP = Kind("", "ConfigMap", Role.CONFIGURATIONS)


@cache
def kinds() -> tuple[Kind, ...]:
    """Every kind, nodes first, pods last."""
    quotas = [Kind(group, name, Role.QUOTAS) for group, names in _QUOTAS.items() for name in names]
    workloads = dict.fromkeys(Kind(each.group, each.kind, Role.WORKLOADS) for each in table.entries())
    workloads.pop(POD)
    return (NODE, *quotas, CONFIG_MAP, *workloads, POD)


def generated_kinds() -> tuple[Kind, ...]:
    """Those that `gen` writes and that are read anyway: queues and the like, and schedulers."""
    return (*of_roles(Role.QUOTAS), Kind("apps", "Deployment", Role.WORKLOADS))


def of_roles(*roles: Role) -> Iterator[Kind]:
    """The kinds that are read for one of these."""
    return (kind for kind in kinds() if kind.role in roles)


@cache
def _first_of_names() -> frozenset[Kind]:
    """Of each name the kind of Kubernetes, else the only one there is."""
    by_name: dict[str, list[Kind]] = {}
    for kind in kinds():
        by_name.setdefault(kind.name, []).append(kind)
    found = []
    for same in by_name.values():
        built_in = [kind for kind in same if kind.group in _BUILT_IN]
        found += built_in or (same if len(same) == 1 else [])
    return frozenset(found)


class Resource(NamedTuple):
    """A kind as a server serves it."""

    kind: Kind
    api_version: str
    plural: str
    namespaced: bool

    def path(self, namespace: str = "") -> str:
        """Where its objects are listed, all or those of one namespace."""
        root = "api" if "/" not in self.api_version else "apis"
        below = f"/namespaces/{namespace}" if namespace and self.namespaced else ""
        return f"/{root}/{self.api_version}{below}/{self.plural}"

    @property
    def shown(self) -> str:
        """As kubectl names it: `jobs.batch.volcano.sh`."""
        return f"{self.plural}.{self.kind.group}" if self.kind.group else self.plural


def served(client: Client, wanted: Iterable[Kind]) -> Iterator[Resource]:
    """The kinds that the server has, in the order given. Raises ClusterError."""
    versions = _versions(client)
    for kind in wanted:
        for api_version in _known_first(kind, versions.get(kind.group, ())):
            found = resource_of(client, api_version, kind)
            if found is not None:
                yield found
                break


def resource_of(client: Client, api_version: str, kind: Kind) -> Resource | None:
    """A kind in exactly this version; None: the server does not serve it. Raises ClusterError."""
    found = _resources(client, api_version).get(kind.name)
    return Resource(kind, api_version, str(found["name"]), found.get("namespaced") is True) if found else None


def _versions(client: Client) -> dict[str, list[str]]:
    """API groups to the apiVersions that are served, the preferred one first."""
    found = {"": ["v1"]}
    groups = client.get("/apis", "the API groups").get("groups")
    for group in groups if isinstance(groups, list) else ():
        preferred = group.get("preferredVersion") or {}
        every = [preferred, *(each for each in group.get("versions", ()) if each != preferred)]
        found[str(group.get("name"))] = [str(each.get("groupVersion")) for each in every if each]
    return found


def _known_first(kind: Kind, versions: Iterable[str]) -> list[str]:
    """Versions whose pod templates policykit knows before others."""
    return sorted(versions, key=lambda each: not table.known(each, kind.name))


def _resources(client: Client, api_version: str) -> Mapping[str, Any]:
    """Kinds to their entries in the server's list, which is asked for once; subresources and what cannot be
    listed are left out."""
    if api_version not in client.resources:
        client.resources[api_version] = _read_resources(client, api_version)
    return client.resources[api_version]


def _read_resources(client: Client, api_version: str) -> Mapping[str, Any]:
    root = "apis" if "/" in api_version else "api"
    try:
        listed = client.get(f"/{root}/{api_version}", f"the resources of {api_version}").get("resources")
    except NotServedError:
        return {}
    return {
        str(each.get("kind")): each
        for each in (listed if isinstance(listed, list) else ())
        if "/" not in str(each.get("name", "/")) and "list" in (each.get("verbs") or ())
    }
