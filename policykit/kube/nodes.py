"""Node objects: a node as a pool."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policykit.kube.names import is_extended
from policykit.kube.requests import amounts
from policykit.kube.tolerations import read_taints
from policykit.kube.virtual_cards import registered
from policykit.manifests.shape import mapping
from policykit.model.pool import Pool, Shape
from policykit.model.virtual_cards import NAMES


def read(node: Mapping[str, Any]) -> Pool:
    """A Node object as a pool of one node, with its allocatable (pods included), else its capacity."""
    metadata, spec, status = (mapping(node.get(part)) for part in ("metadata", "spec", "status"))
    name = metadata.get("name")
    name = name if isinstance(name, str) else ""
    labels = {k: v for k, v in mapping(metadata.get("labels")).items() if isinstance(v, str)}
    allocatable = amounts(status.get("allocatable")) or amounts(status.get("capacity"))
    virtual = registered(mapping(metadata.get("annotations")))
    if virtual and allocatable.get(NAMES[virtual.mode].cards):
        # The plugin's scheduler counts memory and cores, which the kubelet may not report.
        allocatable = {**{r: n for r, n in virtual.amounts().items() if n}, **allocatable}
    devices = sorted(r for r, counted in allocatable.items() if counted and is_extended(r))
    return Pool(
        name,
        (Shape(allocatable, 1, 1, (name,)),),
        labels,
        read_taints(spec.get("taints")),
        resources=tuple(devices),
        unschedulable=spec.get("unschedulable") is True,
    )


def labels_of(node: Pool) -> dict[str, str]:
    """Every label of a one-node pool."""
    return {**node.labels, **node.shapes[0].labels}
