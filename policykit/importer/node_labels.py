"""Labels and taints of nodes by meaning: purpose, location, or set and removed automatically."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping

from policykit.catalogue import labels as known
from policykit.catalogue.cards import vendors
from policykit.kube.compute_classes import LABEL as COMPUTE_CLASS
from policykit.kube.names import label_key_problem, label_value_problem
from policykit.kube.tolerations import EFFECTS
from policykit.model.inventory import Node
from policykit.model.pool import Taint
from policykit.model.topology import LEVELS

NODE_POOL_IDS = ("alibabacloud.com/nodepool-id", "tke.cloud.tencent.com/nodepool-id")
"""Node pool labels whose values are generated ids."""
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
"""Node pool labels of clouds and provisioners, the most specific first."""
CONTROL_PLANE = ("node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master")

_CAPACITY = (
    "cloud.google.com/gke-spot",
    "cloud.google.com/gke-preemptible",
    "cloud.google.com/gke-provisioning",
    "karpenter.sh/capacity-type",
    "eks.amazonaws.com/capacityType",
    "kubernetes.azure.com/scalesetpriority",
    COMPUTE_CLASS,
)
"""Cloud labels that pods do select nodes by."""
_ROLE = "node-role.kubernetes.io/"
_INSTALLERS = ("minikube.k8s.io", "cattle.io", "rke2.io", "k3s.io", "beta.amd.com", "gpu.intel.com")
"""Label domains that installers and device plugins use for their own state."""
_STATES = frozenset({"nvidia.com/gpu-driver-upgrade-state"})
_TOPOLOGY = "topology.kubernetes.io/"
_PLACE = re.compile(
    r"(?:^|[-_./])(zone|rack|row|room|switch|leaf|spine|tor|block|superpod|hypernode|network-domain)s?\Z"
)
_UID = re.compile(r"(?:[0-9a-fA-F]{8}-[0-9a-fA-F-]{4,}|[0-9a-fA-F]{12,}|[0-9]{9,}|i-[0-9a-z]{8,})\Z")
_USAGE = "/node.usage"
_FEW = 5
"""Least number of nodes for a label that differs on every node to count as unique."""

_CONDITIONS = ("not-ready", "unreachable", "unschedulable", "network-unavailable", "out-of-service")
_TRANSIENT = frozenset(
    {
        *(f"node.kubernetes.io/{condition}" for condition in _CONDITIONS),
        *(f"node.kubernetes.io/{scarce}-pressure" for scarce in ("memory", "disk", "pid")),
        *("node.cloudprovider.kubernetes.io/uninitialized", "node.cloudprovider.kubernetes.io/shutdown"),
        *("ToBeDeletedByClusterAutoscaler", "DeletionCandidateOfClusterAutoscaler", "karpenter.sh/disrupted"),
        *("karpenter.sh/disruption", "karpenter.sh/unregistered", "node.cilium.io/agent-not-ready"),
        *("ebs.csi.aws.com/agent-not-ready", "efs.csi.aws.com/agent-not-ready", "readiness.k8s.io/not-ready"),
    }
)


def is_transient(taint: Taint) -> bool:
    """Whether a taint is set and removed automatically: not ready, under pressure, drained, in repair."""
    if taint.key in _TRANSIENT or taint.key.endswith("not-ready"):
        return True
    return any(taint == each for vendor in vendors() for each in vendor.passing_taints)


def closes_control_plane(taint: Taint) -> bool:
    """Whether the taint has kubeadm's key or a custom control plane key."""
    return taint.key in CONTROL_PLANE or taint.key.endswith("/control-plane")


def policy_taints(taints: Iterable[Taint]) -> tuple[Taint, ...]:
    """The taints a policy can state: valid, one per key and effect, and not transient."""
    found: dict[tuple[str, str], Taint] = {}
    for taint in taints:
        wrong = (
            label_key_problem(taint.key) or label_value_problem(taint.value) or taint.effect not in EFFECTS
        )
        if not wrong and not is_transient(taint):
            found.setdefault((taint.key, taint.effect), taint)
    return tuple(sorted(found.values()))


def describes_location(key: str) -> bool:
    """Whether a label describes the location of a node: zone, rack, switch."""
    if key.startswith(_TOPOLOGY):
        return key.removeprefix(_TOPOLOGY) in LEVELS
    return not known.well_known(key) and not known.provider(key) and bool(_PLACE.search(key))


def describes_purpose(key: str, value: str) -> bool:
    """Whether pods select nodes by this label: not one that the kubelet, clouds or discovery write."""
    if label_key_problem(key) or label_value_problem(value):
        return False
    if key in _CAPACITY or key in NODE_POOLS:
        return True
    if key.startswith(_ROLE):
        return key not in CONTROL_PLANE
    if key in _STATES or _by_installer(key):
        return False
    # Retired keys hold driver versions, which change node by node within a pool.
    by_machine = known.discovery(key) or known.replaced_by(key) is not None or _UID.match(value)
    return not (known.well_known(key) or known.provider(key) or by_machine)


def _by_installer(key: str) -> bool:
    domain, slash, _ = key.partition("/")
    return bool(slash) and any(domain == each or domain.endswith(f".{each}") for each in _INSTALLERS)


def unique_keys(nodes: Iterable[Node]) -> frozenset[str]:
    """Keys of labels whose value is different on every node: serial numbers, addresses, names.

    Keys that are also taint keys, and usage keys of the seed scheme, are not included.
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
        and not (describes_location(key) or key in tainted or key in NODE_POOLS or key.endswith(_USAGE))
    )


def purpose_labels(node: Node, own: frozenset[str]) -> dict[str, str]:
    """The labels that describe the purpose of a node, without its location."""
    return {
        key: value
        for key, value in sorted(node.labels.items())
        if describes_purpose(key, value) and key not in own and not describes_location(key)
    }


def location_labels(labels: Mapping[str, str], own: frozenset[str]) -> dict[str, str]:
    """The labels that describe the location of a node."""
    return {
        key: value
        for key, value in sorted(labels.items())
        if describes_location(key)
        and key not in own
        and not label_key_problem(key)
        and not label_value_problem(value)
    }
