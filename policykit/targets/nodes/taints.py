"""Taints of nodes that exist, as commands.

Never as Node objects: `spec.taints` is one atomic list, so whoever applies it takes it away
from the node lifecycle controller.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from policykit.generator.artifact import Artifact, Role
from policykit.model.cluster import Cluster
from policykit.model.pool import Pool
from policykit.model.taint import Taint
from policykit.targets.nodes.node_groups import pool_taints
from policykit.targets.nodes.shell import command, node_arguments, script

CONTROL_PLANE = "nodes/control-plane/taint.sh"
_CONTROL_PLANE_NODES = "node-role.kubernetes.io/control-plane"
_TAINT = "kubectl taint nodes --overwrite"


def write(cluster: Cluster, pool: Pool) -> Iterator[Artifact]:
    """`taints.sh`, where the nodes are known by name or selector."""
    taints = pool_taints(cluster, pool)
    meant = [each for shape in pool.shapes for each in node_arguments(shape)] if taints else []
    if meant:
        comments = [
            f"Taints of the nodes of pool {pool.name}; safe to run again.",
            "The last step: see the order in nodes/README.md.",
        ]
        commands = [command(_TAINT, nodes, map(str, taints)) for nodes in meant]
        yield Artifact(f"nodes/{pool.name}/taints.sh", script(comments, commands), Role.NODE)


def control_plane(cluster: Cluster) -> Iterator[Artifact]:
    """The command that taints the control plane, where the policy says so."""
    taint = cluster.control_plane_taint
    if taint is None:
        return
    comments = [
        "Taint of the control plane; safe to run again.",
        f"It applies to nodes with the label {_CONTROL_PLANE_NODES}, which kubeadm sets.",
    ]
    commands = [command(_TAINT, ["-l", _CONTROL_PLANE_NODES], [str(taint)])]
    yield Artifact(CONTROL_PLANE, script(comments, commands), Role.NODE)


def taint_data(taint: Taint) -> dict[str, Any]:
    """A taint as objects hold it, without an empty value."""
    value = {"value": taint.value} if taint.value else {}
    return {"key": taint.key, **value, "effect": taint.effect}
