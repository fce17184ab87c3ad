"""ClusterNetworkTopology: the levels of the cluster as layers of its network (Koordinator 1.7)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policykit.manifests.shape import mapping, mappings, text, texts
from policykit.model.topology import Level
from policykit.namedtuple import NamedTuple
from policykit.targets.koordinator.objects.values import present

API_VERSION = "scheduling.koordinator.sh/v1alpha1"
KIND = "ClusterNetworkTopology"
NAME = "default"
"""The only object that the scheduler reads."""
NODE_LAYER = "NodeTopologyLayer"
"""The built-in layer of single nodes, the end of the chain."""


class Layer(NamedTuple):
    """A layer of the network: nodes with the same value of one of the labels."""

    name: str
    parent: str = ""
    """The next wider layer; empty if it is the widest."""
    keys: tuple[str, ...] = ()


def layers(levels: tuple[Level, ...]) -> tuple[Layer, ...]:
    """One chain from the widest level down to single nodes."""
    found: list[Layer] = []
    for level in levels:
        found.append(Layer(level.name, found[-1].name if found else "", (level.key,)))
    return (*found, Layer(NODE_LAYER, found[-1].name if found else ""))


def write(chain: tuple[Layer, ...]) -> dict[str, Any]:
    """The object, with the name that the scheduler reads."""
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
    """Its layers in their order, without those that have no name."""
    listed = mappings(mapping(data.get("spec")).get("networkTopologySpec"))
    return tuple(
        Layer(name, text(each.get("parentTopologyLayer")), texts(each.get("labelKey")))
        for each in listed
        if (name := text(each.get("topologyLayer")))
    )
