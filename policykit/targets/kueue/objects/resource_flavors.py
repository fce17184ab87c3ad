"""ResourceFlavor and Topology, written and read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policykit.kube import tolerations
from policykit.manifests.shape import mapping, mappings, pairs, text
from policykit.model.release import Version
from policykit.model.taint import Taint, Toleration
from policykit.namedtuple import NamedTuple
from policykit.targets.kueue import versions

RESOURCE_FLAVOR = "ResourceFlavor"


class ResourceFlavor(NamedTuple):
    """Nodes with a quota of their own."""

    name: str
    labels: Mapping[str, str] = {}
    """Labels of its nodes, which admitted pods get as their nodeSelector."""
    taints: tuple[Taint, ...] = ()
    """Taints of its nodes: only pods that tolerate them are admitted."""
    tolerations: tuple[Toleration, ...] = ()
    """Tolerations added to admitted pods."""
    topology: str = ""
    """Name of the Topology of its nodes; empty: none."""


def write_flavor(flavor: ResourceFlavor, version: Version) -> dict[str, Any]:
    """The object, in the API version of the release."""
    spec: dict[str, Any] = {}
    if flavor.labels:
        spec["nodeLabels"] = dict(sorted(flavor.labels.items()))
    if flavor.taints:
        spec["nodeTaints"] = [_taint(taint) for taint in flavor.taints]
    if flavor.tolerations:
        spec["tolerations"] = [tolerations.to_dict(each) for each in flavor.tolerations]
    if flavor.topology:
        spec["topologyName"] = flavor.topology
    return {
        "apiVersion": versions.api_version(RESOURCE_FLAVOR, version),
        "kind": RESOURCE_FLAVOR,
        "metadata": {"name": flavor.name},
        **({"spec": spec} if spec else {}),
    }


def _taint(taint: Taint) -> dict[str, str]:
    value = {"value": taint.value} if taint.value else {}
    return {"key": taint.key, **value, "effect": taint.effect}


def read_flavor(data: Mapping[str, Any]) -> ResourceFlavor:
    """A ResourceFlavor. Fields that are missing or have the wrong type are empty."""
    spec = mapping(data.get("spec"))
    return ResourceFlavor(
        text(mapping(data.get("metadata")).get("name")),
        pairs(spec.get("nodeLabels")),
        tolerations.read_taints(spec.get("nodeTaints")),
        tolerations.read(spec.get("tolerations")),
        text(spec.get("topologyName")),
    )


TOPOLOGY = "Topology"


class Topology(NamedTuple):
    """Levels by which Kueue places the pods of a workload."""

    name: str
    levels: tuple[str, ...]
    """Node labels, widest level first. Kueue ignores nodes that lack one of them."""


def write_topology(topology: Topology, version: Version) -> dict[str, Any]:
    """The object, in the API version of the release."""
    return {
        "apiVersion": versions.api_version(TOPOLOGY, version),
        "kind": TOPOLOGY,
        "metadata": {"name": topology.name},
        "spec": {"levels": [{"nodeLabel": level} for level in topology.levels]},
    }


def read_topology(data: Mapping[str, Any]) -> Topology:
    """A Topology. Fields that are missing or have the wrong type are empty."""
    return Topology(
        text(mapping(data.get("metadata")).get("name")),
        tuple(text(each.get("nodeLabel")) for each in mappings(mapping(data.get("spec")).get("levels"))),
    )
