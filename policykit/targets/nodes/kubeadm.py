"""Labels and taints a node brings along when kubeadm joins it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from policykit.generator.artifact import Artifact, Role
from policykit.manifests.writer import dump
from policykit.model.cluster import Cluster
from policykit.model.pool import Pool
from policykit.targets.nodes.kubelet import comment, node_labels
from policykit.targets.nodes.node_groups import joining_groups, pool_taints
from policykit.targets.nodes.taints import taint_data

_MINOR = re.compile(r"1\.([0-9]{1,9})")
_FIRST_V1BETA4 = 31


def write(cluster: Cluster, pool: Pool) -> Iterator[Artifact]:
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
    """v1beta4 came with Kubernetes 1.31; an unstated version is a current one."""
    match = _MINOR.match(cluster.kubernetes_version)
    return "v1beta3" if match and int(match[1]) < _FIRST_V1BETA4 else "v1beta4"


def node_registration(cluster: Cluster, pool: Pool, labels: dict[str, str]) -> dict[str, Any]:
    """In the form of the version: kubeletExtraArgs was a map until v1beta3, and is a list since."""
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
