"""Labels and taints that a node has when it joins: kubelet flags and kubeadm's JoinConfiguration."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from shlex import quote
from textwrap import wrap
from typing import Any

from policykit.generator.artifact import Artifact, Role
from policykit.manifests.writer import dump
from policykit.model.cluster import Cluster
from policykit.model.node_labels import may_set
from policykit.model.pool import Pool
from policykit.targets.nodes.existing_nodes import taint_data
from policykit.targets.nodes.node_groups import NodeGroup, joining_groups, pool_taints

_WIDE = 100


def restricted_labels(labels: Mapping[str, str]) -> tuple[str, ...]:
    """Keys of the labels a kubelet may not set."""
    return tuple(key for key in labels if not may_set(key))


def node_labels(labels: Mapping[str, str]) -> str:
    """Value of `--node-labels`, without labels that a kubelet may not set."""
    return ",".join(f"{key}={value}" for key, value in labels.items() if may_set(key))


def flags(cluster: Cluster, pool: Pool, labels: Mapping[str, str]) -> tuple[str, ...]:
    """`--node-labels` and `--register-with-taints`, each unless it is empty."""
    values = {
        "--node-labels": node_labels(labels),
        "--register-with-taints": ",".join(map(str, pool_taints(cluster, pool))),
    }
    return tuple(f"{flag}={value}" for flag, value in values.items() if value)


def write_kubelet(cluster: Cluster, pool: Pool) -> Iterator[Artifact]:
    """`kubelet.env`: the environment file of the kubelet's service."""
    for group in joining_groups(cluster, pool):
        words = flags(cluster, pool, group.labels)
        if words:
            text = (
                f"# Flags of the kubelet on nodes of pool {pool.name}, read when a node registers:\n"
                "# nodes that have already joined do not change. Install as /etc/default/kubelet\n"
                "# (Debian) or /etc/sysconfig/kubelet (Red Hat) before the node joins.\n"
                f"{comment(group)}"
                f"KUBELET_EXTRA_ARGS={quote(' '.join(words))}\n"
            )
            yield Artifact(f"nodes/{pool.name}/kubelet{group.suffix}.env", text, Role.NODE)


def comment(group: NodeGroup) -> str:
    """Comment lines with the nodes that a file is for; empty: all of the pool."""
    lines = wrap(f"For {', '.join(group.names)}.", _WIDE, break_on_hyphens=False) if group.names else []
    return "".join(f"# {line}\n" for line in lines)


_MINOR = re.compile(r"1\.([0-9]{1,9})")
_FIRST_V1BETA4 = 31


def write_kubeadm(cluster: Cluster, pool: Pool) -> Iterator[Artifact]:
    """`kubeadm.yaml`: the nodeRegistration of a JoinConfiguration."""
    for group in joining_groups(cluster, pool):
        registration = node_registration(cluster, pool, group.labels)
        if registration:
            document = {
                "apiVersion": f"kubeadm.k8s.io/{version(cluster)}",
                "kind": "JoinConfiguration",
                "nodeRegistration": registration,
            }
            says = "---\n# For kubeadm join --config, together with your own discovery section.\n"
            says += comment(group)
            yield Artifact(f"nodes/{pool.name}/kubeadm{group.suffix}.yaml", says + dump(document), Role.NODE)


def version(cluster: Cluster) -> str:
    """Version of kubeadm's API: v1beta4 since Kubernetes 1.31, or if the policy states no version."""
    match = _MINOR.match(cluster.kubernetes_version)
    return "v1beta3" if match and int(match[1]) < _FIRST_V1BETA4 else "v1beta4"


def node_registration(cluster: Cluster, pool: Pool, labels: dict[str, str]) -> dict[str, Any]:
    """nodeRegistration: kubeletExtraArgs is a map up to v1beta3, and a list since."""
    found: dict[str, Any] = {}
    value = node_labels(labels)
    if value:
        listed = version(cluster) != "v1beta3"
        found["kubeletExtraArgs"] = (
            [{"name": "node-labels", "value": value}] if listed else {"node-labels": value}
        )
    taints = pool_taints(cluster, pool)
    if taints:
        found["taints"] = [taint_data(taint) for taint in taints]
    return found
