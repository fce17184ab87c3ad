"""Node objects: a node as a pool, and the filters that reject pods."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from policykit.kube import affinity as affinities
from policykit.kube.affinity import NodeAffinity
from policykit.kube.names import is_extended
from policykit.kube.requests import amounts
from policykit.kube.tolerations import read_taints, tolerates, untolerated
from policykit.model.pool import Pool, Shape
from policykit.model.taint import Taint, Toleration

CORDON = Taint("node.kubernetes.io/unschedulable")
"""Taint that the scheduler derives from spec.unschedulable."""


def read(node: Mapping[str, Any]) -> Pool:
    """A Node object as a pool of one node, with its allocatable (pods included), else its capacity."""
    metadata, spec, status = (_mapping(node.get(part)) for part in ("metadata", "spec", "status"))
    name = metadata.get("name")
    name = name if isinstance(name, str) else ""
    labels = {k: v for k, v in _mapping(metadata.get("labels")).items() if isinstance(v, str)}
    allocatable = amounts(status.get("allocatable")) or amounts(status.get("capacity"))
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


def name_of(node: Pool) -> str:
    """Name of the node of a one-node pool."""
    return next(iter(node.shapes[0].node_names), node.name)


def filters(
    node: Pool,
    tolerations: Sequence[Toleration],
    affinity: NodeAffinity,
    *,
    comparison: bool = False,
) -> tuple[str, ...]:
    """Every filter that rejects the node of a one-node pool, in the scheduler's order.

    Of NodeUnschedulable, TaintToleration, NodeAffinity; the scheduler itself stops at the
    first. `comparison` as in `tolerations.tolerates`. Source: kubernetes v1.36 plugins.
    """
    failing: list[str] = []
    if node.unschedulable and not any(tolerates(t, CORDON, comparison=comparison) for t in tolerations):
        failing.append("NodeUnschedulable")
    if untolerated(node.taints, tolerations, comparison=comparison) is not None:
        failing.append("TaintToleration")
    if not affinities.matches(affinity, labels_of(node), name_of(node)):
        failing.append("NodeAffinity")
    return tuple(failing)


def _mapping(raw: object) -> Mapping[str, Any]:
    return raw if isinstance(raw, Mapping) else {}
