"""ClusterNetworkTopology: the levels of the cluster as layers of its network (Koordinator 1.7)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from policykit.manifests.shape import mapping, mappings, text, texts
from policykit.model.topology import Level
from policykit.targets.koordinator.objects.annotations import present
from policykit.targets.release import Version

API_VERSION = "scheduling.koordinator.sh/v1alpha1"
KIND = "ClusterNetworkTopology"
NAME = "default"
"""The only one that the scheduler reads."""
NODES = "NodeTopologyLayer"
"""The built-in layer of single nodes, the end of the chain."""
FIRST = Version(1, 7, 0)


class Layer(NamedTuple):
    """Nodes with the same value of one of the labels belong together."""

    name: str
    parent: str = ""
    """The next wider layer; empty: it is the widest."""
    keys: tuple[str, ...] = ()


def layers(levels: tuple[Level, ...]) -> tuple[Layer, ...]:
    """One chain from the widest level down to single nodes."""
    found: list[Layer] = []
    for level in levels:
        found.append(Layer(level.name, found[-1].name if found else "", (level.key,)))
    return (*found, Layer(NODES, found[-1].name if found else ""))


def write(chain: tuple[Layer, ...]) -> dict[str, Any]:
    """The object, under the name that the scheduler reads."""
    spec = [
        present(topologyLayer=layer.name, parentTopologyLayer=layer.parent, labelKey=list(layer.keys))
        for layer in chain
    ]
    return {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "metadata": {"name": NAME},
        "spec": {"networkTopologySpec": spec},
    }


def read(data: Mapping[str, Any]) -> tuple[Layer, ...]:
    """Its layers as listed; one without a name is left out."""
    listed = mappings(mapping(data.get("spec")).get("networkTopologySpec"))
    return tuple(
        Layer(name, text(each.get("parentTopologyLayer")), texts(each.get("labelKey")))
        for each in listed
        if (name := text(each.get("topologyLayer")))
    )
