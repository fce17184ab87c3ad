"""Remarks on nodes: what the policy leaves out, for the user."""

from __future__ import annotations

from collections.abc import Iterable

from policykit.importer import node_labels
from policykit.importer.cards import usable_resources
from policykit.importer.groups import is_control_plane
from policykit.importer.inventory import Inventory, Node

_SHOWN = 3


def add_node_remarks(inventory: Inventory) -> None:
    """Adds remarks on nodes with special or temporary state."""
    nodes = sorted(inventory.nodes.values())
    workers = [node for node in nodes if not is_control_plane(node)]
    planes = [node.name for node in nodes if is_control_plane(node)]
    if planes:
        inventory.say(f"{_node_list(planes)}: control plane, reserved by a taint; not in any pool")
    cordoned = [node.name for node in workers if node.cordoned]
    if cordoned:
        inventory.say(
            f"{_node_list(cordoned)}: currently cordoned; a pool is unschedulable only if all its nodes are"
        )
    passing = sorted(
        {
            str(t)
            for node in workers
            for t in node.taints
            if node_labels.is_transient(t) and "unschedulable" not in t.key
        }
    )
    for taint in passing:
        having = [node.name for node in workers if taint in map(str, node.taints)]
        inventory.say(f"{_node_list(having)}: taint {taint} is set and removed automatically; left out")
    silent = [node.name for node in workers if not node.allocatable]
    if silent:
        inventory.say(f"{_node_list(silent)}: reports no allocatable resources; sizes are left out")
    _failing(workers, inventory)
    for key in sorted(node_labels.unique_keys(workers)):
        if any(
            node_labels.describes_purpose(key, node.labels.get(key, ""))
            for node in workers
            if key in node.labels
        ):
            inventory.say(f"label {key} has a different value on each node; left out")


def _failing(workers: Iterable[Node], inventory: Inventory) -> None:
    for node in workers:
        for resource, number in usable_resources(node).items():
            have = node.allocatable.get(resource, 0)
            if "/" in resource and node.allocatable and have < number:
                inventory.say(
                    f"node {node.name}: only {have} of {number} {resource} allocatable; "
                    f"the policy has {number}"
                )


def _node_list(names: list[str]) -> str:
    shown = ", ".join(names[:_SHOWN])
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return f"{'node' if len(names) == 1 else 'nodes'} {shown}{more}"
