"""Karpenter: a NodePool per autoscaled pool, with the labels and taints of its nodes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from policykit.catalogue.labels import provider_values
from policykit.generator.artifact import Artifact, Role
from policykit.manifests.writer import dump
from policykit.model.cluster import Cluster
from policykit.model.node_labels import in_domain
from policykit.model.pool import Pool
from policykit.targets.nodes.clouds import PoolFiles
from policykit.targets.nodes.existing_nodes import taint_data
from policykit.targets.nodes.node_groups import ZONE, NodeGroup, groups, pool_taints

_CLASSES = {
    "eks": ("karpenter.k8s.aws", "EC2NodeClass"),
    "aks": ("karpenter.azure.com", "AKSNodeClass"),
}
_CARD_NAMES = {"eks": "karpenter.k8s.aws/instance-gpu-name", "aks": "karpenter.azure.com/sku-gpu-name"}
_CARD_MEMORY = "karpenter.k8s.aws/instance-gpu-memory"
_A100_MEMORY = {"40gb": "40960", "80gb": "81920"}
"""Memory in MiB as Karpenter reports it: the two A100 share a name."""

_RESERVED = ("karpenter.sh", "karpenter.k8s.aws")


def write(cluster: Cluster, pool: Pool) -> PoolFiles:
    """`karpenter.yaml`, if the cluster runs on a cloud that Karpenter supports."""
    if cluster.provider not in _CLASSES:
        says = (
            f"pool {pool.name}: a Karpenter NodePool needs provider eks or aks, so karpenter.yaml is not "
            "written"
        )
        return PoolFiles((), (says,))
    notices = []
    pinned = requirements(cluster, pool)
    if pool.card and not any(each["key"] in _CARD_NAMES.values() for each in pinned):
        notices.append(
            f"pool {pool.name}: the instance types with card {pool.card} are unknown, so add them under "
            "requirements in karpenter.yaml before applying it"
        )
    artifacts = tuple(
        Artifact(
            f"nodes/{pool.name}/karpenter{group.suffix}.yaml",
            "---\n" + dump(node_pool(cluster, pool, group, pinned)),
            Role.NODE,
        )
        for group in groups(cluster, pool)
    )
    return PoolFiles(artifacts, tuple(notices))


def node_pool(cluster: Cluster, pool: Pool, group: NodeGroup, pinned: list[dict[str, Any]]) -> dict[str, Any]:
    """A karpenter.sh/v1 NodePool, without a node class."""
    node_class, kind = _CLASSES[cluster.provider]
    spec: dict[str, Any] = {
        "nodeClassRef": {"group": node_class, "kind": kind, "name": "default"},
        "requirements": [*pinned, *([_in(ZONE, group.zone)] if group.zone else [])],
    }
    taints = pool_taints(cluster, pool)
    if taints:
        spec["taints"] = [taint_data(taint) for taint in taints]
    template: dict[str, Any] = {"spec": spec}
    labels = _labels(cluster, pool, group, pinned)
    if labels:
        template = {"metadata": {"labels": labels}, "spec": spec}
    found: dict[str, Any] = {"template": template}
    limits = _limits(cluster, pool, group)
    if limits:
        found["limits"] = limits
    return {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodePool",
        "metadata": {"name": f"{pool.name}{group.suffix}"},
        "spec": found,
    }


def requirements(cluster: Cluster, pool: Pool) -> list[dict[str, Any]]:
    """Requirements that select instances with the pool's card, if Karpenter's name for it is known."""
    card = cluster.card_of(pool)
    if card is None:
        return []
    found = []
    if card.arch:
        found.append(_in("kubernetes.io/arch", card.arch))
    key = _CARD_NAMES[cluster.provider]
    words = set(re.split(r"[^a-z0-9]+", card.product.lower()))
    names = [name for name in provider_values(key) if name.lower() in words]
    found += [_in(key, name) for name in names]
    if names == ["a100"]:
        found += [_in(_CARD_MEMORY, mib) for size, mib in _A100_MEMORY.items() if size in words]
    return found


def _in(key: str, value: str) -> dict[str, Any]:
    return {"key": key, "operator": "In", "values": [value]}


def _labels(
    cluster: Cluster, pool: Pool, group: NodeGroup, pinned: list[dict[str, Any]]
) -> Mapping[str, str]:
    """Labels of the template. It has the product label although discovery sets it too, since Karpenter
    adds no node for a pod that requires a label missing in the template; but only if the requirements
    guarantee the card.
    """
    labels = {key: value for key, value in group.labels.items() if not in_domain(key, _RESERVED)}
    card = cluster.card_of(pool)
    if (
        card
        and card.product_key in pool.labels
        and any(each["key"] in _CARD_NAMES.values() for each in pinned)
    ):
        labels[card.product_key] = pool.labels[card.product_key]
    return dict(sorted(labels.items()))


def _limits(cluster: Cluster, pool: Pool, group: NodeGroup) -> dict[str, Any]:
    if group.maximum is None:
        return {}
    card = cluster.card_of(pool)
    if card and group.cards:
        return {card.resource: group.maximum * group.cards}
    return {"nodes": group.maximum}
