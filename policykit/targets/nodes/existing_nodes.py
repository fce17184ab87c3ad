"""Labels and taints of existing nodes: Node objects to apply, and commands for batches of nodes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from shlex import quote
from typing import Any

from policykit.escape import one_line
from policykit.generator.artifact import Artifact, Role
from policykit.manifests.writer import dump, dump_all
from policykit.model.cluster import Cluster
from policykit.model.pool import Pool, Shape, Taint
from policykit.targets.nodes.node_groups import pool_taints, shape_labels

BATCH = 50
"""Most nodes in one command, so that it stays readable."""


def script(comments: Iterable[str], commands: Iterable[str]) -> str:
    """A POSIX shell script that stops at the first error."""
    says = "".join(f"# {comment}\n" for comment in comments)
    return f"#!/bin/sh\n{says}set -eu\n\n" + "\n".join(commands)


def command(words: str, *groups: Iterable[str]) -> str:
    """A command: `words` unquoted, then each group of arguments, quoted, on a line of its own."""
    quoted = ([quote(one_line(argument)) for argument in group] for group in groups)
    lines = [words, *(" ".join(group) for group in quoted if group)]
    return " \\\n  ".join(lines) + "\n"


def node_arguments(shape: Shape) -> Iterator[list[str]]:
    """The nodes of a shape as arguments of kubectl: batches of names, or a selector; maybe neither."""
    names = sorted(shape.node_names)
    for start in range(0, len(names), BATCH):
        yield names[start : start + BATCH]
    if shape.selector and not names:
        yield ["-l", ",".join(f"{key}={value}" for key, value in sorted(shape.selector.items()))]


def is_reachable(shape: Shape) -> bool:
    """Whether kubectl can select these nodes by name or label."""
    return bool(shape.node_names or shape.selector)


APPLY = "kubectl apply --server-side --field-manager=policykit -f"


def write_labels(cluster: Cluster, pool: Pool) -> Iterator[Artifact]:
    """`labels.yaml` if the policy has node names, `labels.sh` if it has names or a selector."""
    folder = f"nodes/{pool.name}"
    objects = sorted(nodes(cluster, pool), key=lambda node: str(node["metadata"]["name"]))
    if objects:
        path = f"{folder}/labels.yaml"
        says = f"# {APPLY} labels.yaml\n# Apply only after the nodes have joined, and never with pruning.\n"
        first, *others = objects
        yield Artifact(path, f"---\n{says}{dump(first)}{dump_all(others)}", Role.NODE)
    commands = list(_commands(cluster, pool))
    if commands:
        text = script([f"Labels of the nodes of pool {pool.name}; safe to run again."], commands)
        yield Artifact(f"{folder}/labels.sh", text, Role.NODE)


def nodes(cluster: Cluster, pool: Pool) -> Iterator[dict[str, Any]]:
    """Node objects with only name and labels: applied server-side, they leave other fields alone."""
    for shape in pool.shapes:
        labels = shape_labels(cluster, pool, shape)
        for name in shape.node_names if labels else ():
            yield {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}}


def _commands(cluster: Cluster, pool: Pool) -> Iterator[str]:
    for shape in pool.shapes:
        labels = shape_labels(cluster, pool, shape)
        for nodes_meant in node_arguments(shape) if labels else ():
            pairs = (f"{key}={value}" for key, value in labels.items())
            yield command("kubectl label nodes --overwrite", nodes_meant, pairs)


EVICTS = "NoExecute evicts running pods that do not tolerate the taint, at once."
CONTROL_PLANE = "nodes/control-plane/taint.sh"
CONTROL_PLANE_NODES = "node-role.kubernetes.io/control-plane"
_TAINT = "kubectl taint nodes --overwrite"


def write_taints(cluster: Cluster, pool: Pool) -> Iterator[Artifact]:
    """`taints.sh`, if the policy has node names or a selector."""
    taints = pool_taints(cluster, pool)
    meant = [each for shape in pool.shapes for each in node_arguments(shape)] if taints else []
    if meant:
        comments = [
            f"Taints of the nodes of pool {pool.name}; safe to run again.",
            "The last step: see the order in nodes/README.md.",
            *_warnings(taints),
        ]
        commands = [command(_TAINT, nodes, map(str, taints)) for nodes in meant]
        yield Artifact(f"nodes/{pool.name}/taints.sh", script(comments, commands), Role.NODE)


def control_plane(cluster: Cluster) -> Iterator[Artifact]:
    """The command that taints the control plane, if the policy asks for it."""
    taint = cluster.control_plane_taint
    if taint is None:
        return
    comments = [
        "Taint of the control plane; safe to run again.",
        f"It applies to nodes with the label {CONTROL_PLANE_NODES}, which kubeadm sets.",
        *_warnings([taint]),
    ]
    commands = [command(_TAINT, ["-l", CONTROL_PLANE_NODES], [str(taint)])]
    yield Artifact(CONTROL_PLANE, script(comments, commands), Role.NODE)


def _warnings(taints: Iterable[Taint]) -> Iterator[str]:
    if any(taint.evicts for taint in taints):
        yield EVICTS


def taint_data(taint: Taint) -> dict[str, Any]:
    """A taint as in a Node object, without an empty value."""
    value = {"value": taint.value} if taint.value else {}
    return {"key": taint.key, **value, "effect": taint.effect}
