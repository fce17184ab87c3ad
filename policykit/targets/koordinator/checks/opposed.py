"""Plugins of a profile that score a resource against NodeResourcesFitPlus."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from policykit.kube.scores import MAX_SCORE
from policykit.manifests.path import Path
from policykit.manifests.shape import mapping, mappings, text, whole
from policykit.targets.koordinator.scheduler import config, configuration
from policykit.targets.koordinator.scheduler.config import FIT, FIT_PLUS
from policykit.targets.release import Version

if TYPE_CHECKING:
    from policykit.model.cluster import Cluster

_DEVICES, _NUMA = "DeviceShare", "NodeNUMAResource"
_CARD_NAMES = frozenset({"nvidia.com/gpu", "amd.com/gpu", "dcu.com/gpu", "huawei.com/npu-core"})
_USUAL_CARDS = 8
"""On one node, where no policy says how many there are."""
_TYPES = ("MostAllocated", "LeastAllocated")


class Opposed(NamedTuple):
    """A resource that two plugins score in opposite directions."""

    path: Path
    """Of `resources` in the args of NodeResourcesFitPlus, below the profile."""
    resource: str
    type: str
    plugin: str
    other: str
    """The type by which the other plugin scores."""
    points: int
    """What one more card in use is worth to NodeResourcesFitPlus; of cpu and memory, all of it."""
    against: int
    """What the other plugin can put against it."""


def opposed(profile: Mapping[str, Any], version: Version, cluster: Cluster | None) -> Iterator[Opposed]:
    """Those that outweigh it."""
    scoring = config.scoring_plugins(profile, version)
    place = configuration.args_place(profile, FIT_PLUS)
    if FIT_PLUS not in scoring or place is None:
        return
    resources = mapping(config.arguments(profile, FIT_PLUS).get("resources"))
    weights = {name: whole(mapping(each).get("weight")) or 0 for name, each in resources.items()}
    total = sum(weight for weight in weights.values() if weight > 0)
    for name, each in resources.items():
        kind, weight = mapping(each).get("type"), weights[name]
        if kind not in _TYPES or weight <= 0 or not isinstance(name, str):
            continue
        moved = MAX_SCORE // _cards(name, cluster) if _is_device(name) else MAX_SCORE
        points = scoring[FIT_PLUS] * weight * moved // total
        for plugin in (FIT, _DEVICES, _NUMA):
            other, swing = _direction(profile, plugin, name)
            against = scoring.get(plugin, 0) * swing
            if other in _TYPES and other != kind and against >= max(points, 1):
                yield Opposed((*place, "resources"), name, str(kind), plugin, other, points, against)


def _direction(profile: Mapping[str, Any], plugin: str, resource: str) -> tuple[str, int]:
    """How a plugin scores a resource, and how far that can move its score; empty: not at all."""
    strategy = mapping(config.arguments(profile, plugin).get("scoringStrategy"))
    kind = text(strategy.get("type")) or "LeastAllocated"
    if plugin == _DEVICES:
        return (kind, MAX_SCORE) if _is_device(resource) else ("", 0)
    listed = mappings(strategy.get("resources")) or [{"name": "cpu"}, {"name": "memory"}]
    weights = {text(each.get("name")): whole(each.get("weight")) or 1 for each in listed}
    if resource not in weights:
        return "", 0
    return kind, MAX_SCORE * weights[resource] // max(sum(weights.values()), 1)


def _is_device(resource: str) -> bool:
    return resource in _CARD_NAMES or resource.startswith("koordinator.sh/")


def _cards(resource: str, cluster: Cluster | None) -> int:
    if cluster is None:
        return _USUAL_CARDS
    from policykit.targets.fleet import most_cards

    return max(most_cards(cluster).get(resource, _USUAL_CARDS), 1)
