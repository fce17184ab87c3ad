"""EKS: a managed node group with its labels and taints, for eksctl."""

from __future__ import annotations

from typing import Any

from policykit.generator.artifact import Artifact, Role
from policykit.manifests.writer import dump
from policykit.model.cluster import Cluster
from policykit.model.pool import Pool
from policykit.targets.nodes.cloud import Form, LabelsAndTaints, NameRule, pool_names, without_domains
from policykit.targets.nodes.existing_nodes import taint_data
from policykit.targets.nodes.node_groups import NodeGroup, groups, pool_taints

_NAMES = NameRule(60)
_RESERVED = ("kubernetes.io", "k8s.io", "eks.amazonaws.com")
"""EKS refuses labels and taints of node groups with these prefixes."""

_SAYS = (
    "---\n"
    "# For eksctl create nodegroup --config-file, together with metadata (name and\n"
    "# region of the cluster) and your own instanceTypes.\n"
)


def write(cluster: Cluster, pool: Pool) -> Form:
    """`eksctl.yaml`: one managed node group per group of nodes."""
    name = pool_names(cluster, _NAMES)[pool.name]
    taints = pool_taints(cluster, pool)
    node_groups = []
    refused: dict[str, None] = {}
    for group in groups(cluster, pool):
        marks = without_domains(group.labels, taints, _RESERVED)
        refused.update(dict.fromkeys(marks.refused))
        node_groups.append(node_group(f"{name}{group.suffix}", group, marks))
    document = {
        "apiVersion": "eksctl.io/v1alpha5",
        "kind": "ClusterConfig",
        "managedNodeGroups": node_groups,
    }
    said = f"pool {pool.name}: EKS refuses {', '.join(refused)} on node groups, so eksctl.yaml omits it"
    file = Artifact(f"nodes/{pool.name}/eksctl.yaml", _SAYS + dump(document), Role.NODE)
    return Form((file,), (said,) if refused else ())


def node_group(name: str, group: NodeGroup, marks: LabelsAndTaints) -> dict[str, Any]:
    """An item of managedNodeGroups (eksctl.io/v1alpha5)."""
    found: dict[str, Any] = {"name": name}
    if group.autoscaled or group.fixed is not None:
        found["minSize"] = group.minimum
    if group.maximum is not None:
        # The smallest size that EKS accepts is 1.
        found["maxSize"] = max(group.maximum, 1)
    if group.fixed is not None:
        found["desiredCapacity"] = group.fixed
    if group.autoscaled:
        # Tags tell the autoscaler the labels and taints of a new node while there is none.
        found["propagateASGTags"] = True
    if group.zone:
        found["availabilityZones"] = [group.zone]
    if marks.labels:
        found["labels"] = dict(marks.labels)
    if marks.taints:
        found["taints"] = [taint_data(taint) for taint in marks.taints]
    return found
