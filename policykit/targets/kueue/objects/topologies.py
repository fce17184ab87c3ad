"""Topology: levels by which Kueue places the pods of a workload, written and read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from policykit.manifests.shape import mapping, mappings, text
from policykit.targets.kueue import versions
from policykit.targets.release import Version

KIND = "Topology"


class Topology(NamedTuple):
    """Levels by which Kueue places the pods of a workload."""

    name: str
    levels: tuple[str, ...]
    """Node labels, the widest level first. Nodes without one of them do not count."""


def write(topology: Topology, version: Version) -> dict[str, Any]:
    """The object, in the version that the release serves."""
    return {
        "apiVersion": versions.api_version(KIND, version),
        "kind": KIND,
        "metadata": {"name": topology.name},
        "spec": {"levels": [{"nodeLabel": level} for level in topology.levels]},
    }


def read(data: Mapping[str, Any]) -> Topology:
    """A Topology object; what is absent or of another shape is empty."""
    return Topology(
        text(mapping(data.get("metadata")).get("name")),
        tuple(text(each.get("nodeLabel")) for each in mappings(mapping(data.get("spec")).get("levels"))),
    )
