"""Which labels and taints of a node say what it is for, and which come and go by themselves."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping

from policykit.catalogue import labels as known
from policykit.catalogue.cards import vendors
from policykit.importer.found import Node
from policykit.kube.names import label_key_problem, label_value_problem
from policykit.kube.tolerations import EFFECTS
from policykit.model.taint import Taint

NODE_POOL_IDS = ("alibabacloud.com/nodepool-id", "tke.cloud.tencent.com/nodepool-id")
"""Those whose values a cloud makes up."""
NODE_POOLS = (
    "cloud.google.com/gke-nodepool",
    "eks.amazonaws.com/nodegroup",
    "karpenter.sh/nodepool",
    "alpha.eksctl.io/nodegroup-name",
    "kubernetes.azure.com/agentpool",
    "agentpool",
    "cce.cloud.com/cce-nodepool",
    "cloud.tencent.com/node-pool",
    "machine.cluster.vke.volcengine.com/nodepool-name",
    "kops.k8s.io/instancegroup",
    *NODE_POOL_IDS,
)
"""Labels by which clouds and provisioners name their node pools, the most telling first."""
CONTROL_PLANE = ("node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master")

_CAPACITY = (
    "cloud.google.com/gke-spot",
    "cloud.google.com/gke-preemptible",
    "cloud.google.com/gke-provisioning",
    "karpenter.sh/capacity-type",
    "eks.amazonaws.com/capacityType",
    "kubernetes.azure.com/scalesetpriority",
)
"""What a cloud says of nodes that pods really choose by."""
_ROLE = "node-role.kubernetes.io/"
_UPKEEP = ("minikube.k8s.io", "cattle.io", "rke2.io", "k3s.io", "beta.amd.com", "gpu.intel.com")
"""Domains under which installers and device plugins note what they did."""
_STATES = frozenset({"nvidia.com/gpu-driver-upgrade-state"})
_PLACE = re.compile(
    r"(?:^|[-_./])(zone|rack|row|room|switch|leaf|spine|tor|block|superpod|hypernode|network-domain)s?\Z"
)
_UID = re.compile(r"(?:[0-9a-fA-F]{8}-[0-9a-fA-F-]{4,}|[0-9a-fA-F]{12,}|[0-9]{9,}|i-[0-9a-z]{8,})\Z")
_USAGE = "/node.usage"
_FEW = 5
"""Nodes from which on a label that differs on each of them is taken for the node's own."""

_CONDITIONS = ("not-ready", "unreachable", "unschedulable", "network-unavailable", "out-of-service")
_PASSING = frozenset(
    {
        *(f"node.kubernetes.io/{condition}" for condition in _CONDITIONS),
        *(f"node.kubernetes.io/{scarce}-pressure" for scarce in ("memory", "disk", "pid")),
        *("node.cloudprovider.kubernetes.io/uninitialized", "node.cloudprovider.kubernetes.io/shutdown"),
        *("ToBeDeletedByClusterAutoscaler", "DeletionCandidateOfClusterAutoscaler", "karpenter.sh/disrupted"),
        *("karpenter.sh/disruption", "karpenter.sh/unregistered", "node.cilium.io/agent-not-ready"),
        *("ebs.csi.aws.com/agent-not-ready", "efs.csi.aws.com/agent-not-ready", "readiness.k8s.io/not-ready"),
    }
)


def passing(taint: Taint) -> bool:
    """Whether a taint comes and goes by itself: not ready, under pressure, being drained or repaired."""
    if taint.key in _PASSING or taint.key.endswith("not-ready"):
        return True
    return any(taint == each for vendor in vendors() for each in vendor.passing_taints)


def closes_control_plane(taint: Taint) -> bool:
    """By kubeadm's key, or by one of the cluster's own."""
    return taint.key in CONTROL_PLANE or taint.key.endswith("/control-plane")


def lasting(taints: Iterable[Taint]) -> tuple[Taint, ...]:
    """The taints a policy can speak of: well formed, one per key and effect, and not passing."""
    found: dict[tuple[str, str], Taint] = {}
    for taint in taints:
        wrong = (
            label_key_problem(taint.key) or label_value_problem(taint.value) or taint.effect not in EFFECTS
        )
        if not wrong and not passing(taint):
            found.setdefault((taint.key, taint.effect), taint)
    return tuple(sorted(found.values()))


def tells_place(key: str) -> bool:
    """Whether a label says where a node stands: zone, rack, switch."""
    return key == "topology.kubernetes.io/zone" or (
        not known.well_known(key) and not known.provider(key) and bool(_PLACE.search(key))
    )


def telling(key: str, value: str) -> bool:
    """Whether pods are meant to choose nodes by a label: not what kubelet, clouds and discovery write."""
    if label_key_problem(key) or label_value_problem(value):
        return False
    if key in _CAPACITY or key in NODE_POOLS:
        return True
    if key.startswith(_ROLE):
        return key not in CONTROL_PLANE
    if key in _STATES or _by_upkeep(key):
        return False
    # Retired keys say the version of a driver: it changes in place, and nodes of a pool in turn.
    by_machine = known.discovery(key) or known.replaced_by(key) is not None or _UID.match(value)
    return not (known.well_known(key) or known.provider(key) or by_machine)


def _by_upkeep(key: str) -> bool:
    domain, slash, _ = key.partition("/")
    return bool(slash) and any(domain == each or domain.endswith(f".{each}") for each in _UPKEEP)


def own_keys(nodes: Iterable[Node]) -> frozenset[str]:
    """Keys of labels that every node has with another value: serial numbers, addresses, names.

    A key that nodes are tainted by, or that the seed scheme gives usages, is none of them.
    """
    nodes = list(nodes)
    values = {(key, value) for node in nodes for key, value in node.labels.items()}
    carriers = Counter(key for node in nodes for key in node.labels)
    different = Counter(key for key, _ in values)
    tainted = {taint.key for node in nodes for taint in node.taints}
    return frozenset(
        key
        for key, number in carriers.items()
        if number >= _FEW
        and different[key] == number
        and not (tells_place(key) or key in tainted or key in NODE_POOLS or key.endswith(_USAGE))
    )


def marks(node: Node, own: frozenset[str]) -> dict[str, str]:
    """The labels that say what the node is for, without those that say where it stands."""
    return {
        key: value
        for key, value in sorted(node.labels.items())
        if telling(key, value) and key not in own and not tells_place(key)
    }


def place(labels: Mapping[str, str], own: frozenset[str]) -> dict[str, str]:
    """The labels that say where a node stands."""
    return {
        key: value
        for key, value in sorted(labels.items())
        if tells_place(key)
        and key not in own
        and not label_key_problem(key)
        and not label_value_problem(value)
    }
