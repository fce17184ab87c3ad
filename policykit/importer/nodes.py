"""Node objects: what is read from them, and remarks on what the policy leaves out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from policykit.importer import node_labels
from policykit.importer.cards import usable_resources
from policykit.importer.groups import is_control_plane
from policykit.kube.nodes import read as read_pool
from policykit.kube.requests import amounts
from policykit.kube.virtual_cards import registered
from policykit.manifests.document import Manifest
from policykit.manifests.path import lookup
from policykit.manifests.shape import mapping
from policykit.model.inventory import Inventory, Node

_SHOWN = 3
"""Number of nodes that a remark names."""


def add_node(manifest: Manifest, inventory: Inventory) -> None:
    """Adds a Node, unless there is one with its name."""
    node = _node(manifest.data)
    if node is not None and inventory.nodes.setdefault(node.name, node) != node:
        inventory.add_remark(
            f"node {node.name} is defined more than once with different contents; the first one is used"
        )


def _node(data: Mapping[str, Any]) -> Node | None:
    """A Node; None: it has no name. Malformed taints and labels are left out."""
    pool = read_pool(data)
    if not pool.name:
        return None
    status = data.get("status")
    status = status if isinstance(status, dict) else {}
    info = status.get("nodeInfo")
    kubelet = info.get("kubeletVersion") if isinstance(info, dict) else ""
    return Node(
        pool.name,
        pool.labels,
        tuple(sorted(taint for taint in set(pool.taints) if taint.key and taint.effect)),
        amounts(status.get("allocatable")),
        amounts(status.get("capacity")),
        pool.unschedulable,
        kubelet if isinstance(kubelet, str) else "",
        registered(mapping(lookup(data, ("metadata", "annotations")))),
    )


def add_node_remarks(inventory: Inventory) -> None:
    """Adds remarks on nodes with special or temporary state."""
    nodes = sorted(inventory.nodes.values())
    workers = [node for node in nodes if not is_control_plane(node, inventory.control_plane)]
    control_planes = [node.name for node in nodes if is_control_plane(node, inventory.control_plane)]
    if control_planes:
        inventory.add_remark(
            f"{_node_list(control_planes)}: control plane, reserved by a taint; not in any pool"
        )
    cordoned = [node.name for node in workers if node.cordoned]
    if cordoned:
        inventory.add_remark(
            f"{_node_list(cordoned)}: currently cordoned; a pool is unschedulable only if all its nodes are"
        )
    transient_taints = sorted(
        {
            str(t)
            for node in workers
            for t in node.taints
            if node_labels.is_transient(t) and "unschedulable" not in t.key
        }
    )
    for taint in transient_taints:
        having = [node.name for node in workers if taint in map(str, node.taints)]
        inventory.add_remark(
            f"{_node_list(having)}: taint {taint} is set and removed automatically; left out"
        )
    without_allocatable = [node.name for node in workers if not node.allocatable]
    if without_allocatable:
        inventory.add_remark(
            f"{_node_list(without_allocatable)}: reports no allocatable resources; sizes are left out"
        )
    _failing(workers, inventory)
    for key in sorted(node_labels.unique_keys(workers)):
        if any(
            node_labels.describes_purpose(key, node.labels.get(key, ""))
            for node in workers
            if key in node.labels
        ):
            inventory.add_remark(f"label {key} has a different value on each node; left out")


def _failing(workers: Iterable[Node], inventory: Inventory) -> None:
    for node in workers:
        for resource, number in usable_resources(node).items():
            have = node.allocatable.get(resource, 0)
            if "/" in resource and node.allocatable and have < number:
                inventory.add_remark(
                    f"node {node.name}: only {have} of {number} {resource} allocatable; "
                    f"the policy has {number}"
                )


def _node_list(names: list[str]) -> str:
    shown = ", ".join(names[:_SHOWN])
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return f"{'node' if len(names) == 1 else 'nodes'} {shown}{more}"
