"""Nodes: labels, taints, join-time files, and tolerations of their daemons."""

from __future__ import annotations

from policykit.lazy import Lazy
from policykit.linter.configurations import Configuration
from policykit.linter.target import FactReader, Target

PLUGIN_CONFIGURATION = "configuration of nvidia-device-plugin"


def _matches_shape(data: object) -> bool:
    """Whether it has a version and what NVIDIA's device plugin shares, or its flags."""
    if not isinstance(data, dict) or not isinstance(data.get("version"), str):
        return False
    sharing, flags = data.get("sharing"), data.get("flags")
    shares = isinstance(sharing, dict) and ("timeSlicing" in sharing or "mps" in sharing)
    return shares or (isinstance(flags, dict) and "migStrategy" in flags)


TARGET = Target(
    "nodes",
    "Nodes",
    generate=Lazy("policykit.targets.nodes.generate:generate"),
    import_reader=Lazy("policykit.targets.nodes.importing:NodesReader"),
    configurations=(
        Configuration(PLUGIN_CONFIGURATION, ("timeSlicing", "migStrategy", "mps:"), _matches_shape),
    ),
    facts=(
        FactReader(
            Lazy("policykit.targets.nodes.device_plugin_facts:facts"),
            frozenset({"ClusterPolicy", PLUGIN_CONFIGURATION}),
            pods=True,
            substrings=("nvidia.com/", "migStrategy"),
        ),
    ),
    always=True,
)
