"""Node objects."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policykit.importer.inventory import Node
from policykit.kube.nodes import read as read_pool
from policykit.kube.requests import amounts


def read(data: Mapping[str, Any]) -> Node | None:
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
    )
