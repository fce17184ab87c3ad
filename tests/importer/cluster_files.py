"""Nodes as they would look in a cluster that is what a policy says, and the files `gen` writes for it."""

from __future__ import annotations

import json
from typing import Any

from policykit import api
from policykit.generator.bundle import bundle
from policykit.model.cluster import Cluster
from policykit.model.pool import Pool, Shape, Taint
from policykit.model.quantity import amount_text
from policykit.model.shared_cards import VOLCANO

AT_LEAST = 2
"""Nodes made for a shape that may have any number."""


def generated(cluster: Cluster, folder: str = "generated") -> dict[str, bytes]:
    """Path to content of everything `gen` writes."""
    files = bundle(cluster, api.generate(cluster))
    return {f"{folder}/{path}": text.encode() for path, text in files.items()}


def as_file(nodes: list[dict[str, Any]]) -> bytes:
    """What `kubectl get nodes -o json` prints."""
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": nodes}).encode()


def nodes_of(cluster: Cluster) -> list[dict[str, Any]]:
    """Every node of every pool, and one of the control plane where the policy taints that."""
    made = [
        node(cluster, pool, shape, name)
        for pool in cluster.pools
        for number, shape in enumerate(pool.shapes)
        for name in names(pool, shape, number)
    ]
    if cluster.control_plane_taint:
        made.append(control_plane(cluster.control_plane_taint))
    return made


def names(pool: Pool, shape: Shape, number: int) -> tuple[str, ...]:
    if shape.node_names:
        return shape.node_names
    size = shape.minimum or min(AT_LEAST, AT_LEAST if shape.maximum is None else shape.maximum)
    return tuple(f"{pool.name}-{number}-{index:03d}" for index in range(size))


def node(cluster: Cluster, pool: Pool, shape: Shape, name: str) -> dict[str, Any]:
    labels = {**pool.labels, **shape.labels, **shape.selector}
    annotations = registered(cluster, pool)
    amounts = {resource: amount_text(resource, number) for resource, number in shape.allocatable.items()}
    spec: dict[str, Any] = {"taints": [taint(each) for each in pool.taints]} if pool.taints else {}
    if pool.unschedulable:
        spec["unschedulable"] = True
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "labels": {"kubernetes.io/hostname": name, "kubernetes.io/os": "linux", **labels},
            **({"annotations": annotations} if annotations else {}),
        },
        "spec": spec,
        "status": {
            "allocatable": amounts,
            "capacity": amounts,
            "nodeInfo": {"kubeletVersion": f"v{cluster.kubernetes_version}.0"}
            if cluster.kubernetes_version
            else {},
        },
    }


def registered(cluster: Cluster, pool: Pool) -> dict[str, str]:
    """What Volcano's device plugin writes to a node whose cards it shares."""
    card = cluster.card_of(pool)
    if card is None or pool.sharing.mode != VOLCANO:
        return {}
    each = f"GPU,{pool.sharing.replicas},{card.memory_mib},NVIDIA,true,hami-core:"
    return {"volcano.sh/node-vgpu-register": each * card.per_node}


def control_plane(closed_by: Taint) -> dict[str, Any]:
    labels = {"node-role.kubernetes.io/control-plane": ""}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": "control-plane-0", "labels": labels},
        "spec": {"taints": [taint(closed_by)]},
        "status": {"allocatable": {"cpu": "8", "memory": "32Gi", "pods": "110"}},
    }


def taint(each: Taint) -> dict[str, str]:
    value = {"value": each.value} if each.value else {}
    return {"key": each.key, **value, "effect": each.effect}
