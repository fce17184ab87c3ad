"""ACK: a node pool with its labels and taints, as its API takes it."""

from __future__ import annotations

from typing import Any

from policykit.generator.artifact import Artifact, Role
from policykit.manifests.writer import dump
from policykit.model.cluster import Cluster
from policykit.model.pool import Pool
from policykit.targets.nodes.cloud import Form, NameRule, pool_names
from policykit.targets.nodes.existing_nodes import taint_data
from policykit.targets.nodes.node_groups import NodeGroup, groups, pool_taints

_NAMES = NameRule(60)


def write(cluster: Cluster, pool: Pool) -> Form:
    """`ack.yaml`: part of a CreateClusterNodePool request."""
    name = pool_names(cluster, _NAMES)[pool.name]
    says = (
        "---\n"
        "# Fields of the JSON body of CreateClusterNodePool: add your own instance\n"
        "# types and networks under scaling_group.\n"
    )
    artifacts = (
        Artifact(
            f"nodes/{pool.name}/ack{group.suffix}.yaml",
            says + dump(body(cluster, pool, f"{name}{group.suffix}", group)),
            Role.NODE,
        )
        for group in groups(cluster, pool)
    )
    zones = sorted({group.zone for group in groups(cluster, pool) if group.zone})
    said = (
        f"pool {pool.name}: ACK takes the zone from the vSwitches of a node pool, so ack.yaml omits zone "
        f"{', '.join(zones)}; add vSwitches of that zone to scaling_group.vswitch_ids"
    )
    return Form(tuple(artifacts), (said,) if zones else ())


def body(cluster: Cluster, pool: Pool, name: str, group: NodeGroup) -> dict[str, Any]:
    """The fields that the policy decides."""
    config: dict[str, Any] = {}
    if group.labels:
        config["labels"] = [{"key": key, "value": value} for key, value in group.labels.items()]
    taints = pool_taints(cluster, pool)
    if taints:
        config["taints"] = [taint_data(taint) for taint in taints]
    found: dict[str, Any] = {"nodepool_info": {"name": name}}
    if config:
        found["kubernetes_config"] = config
    if group.autoscaled:
        scaling: dict[str, Any] = {"enable": True, "type": "gpu" if pool.card else "cpu"}
        scaling["min_instances"] = group.minimum
        if group.maximum is not None:
            scaling["max_instances"] = group.maximum
        found["auto_scaling"] = scaling
    if group.fixed is not None:
        found["scaling_group"] = {"desired_size": group.fixed}
    return found
