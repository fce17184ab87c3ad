"""Nodes: labels, taints, join-time files, and tolerations of their daemons."""

from __future__ import annotations

from policykit.lazy import Lazy
from policykit.linter.target import Target

TARGET = Target(
    "nodes",
    "Nodes",
    generate=Lazy("policykit.targets.nodes.generate:generate"),
    import_reader=Lazy("policykit.targets.nodes.importing:NodesReader"),
    always=True,
)
