"""What packs pods onto nodes in use, and what spreads them over empty ones."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from policykit.manifests.path import Path
from policykit.manifests.shape import mapping
from policykit.targets.volcano.checks.listing import Listed, Plugins


class Force(NamedTuple):
    """A score that counts."""

    what: str
    path: Path
    plugin: str
    packs: bool


def forces(plugins: Plugins) -> Iterator[Force]:
    """All that are switched on, in the order of the tiers; a plugin that is off for scoring has none."""
    for plugin in plugins.listed:
        if plugin.on("enableNodeOrder"):
            yield from _of(plugin)


def _of(plugin: Listed) -> Iterator[Force]:
    if plugin.name == "binpack" and (weight := _weight(plugin, "binpack.weight", 1)):
        packs = weight > 0
        yield Force(
            "binpack" if packs else "a negative binpack.weight", (*plugin.path, "name"), "binpack", packs
        )
    if plugin.name == "nodeorder":
        for key, default, packs in (("leastrequested.weight", 1, False), ("mostrequested.weight", 0, True)):
            if _weight(plugin, key, default) > 0:
                yield Force(f"{key} of nodeorder", _place(plugin, key), "nodeorder", packs)
    if plugin.name == "resource-strategy-fit" and _weight(plugin, "resourceStrategyFitWeight", 10) > 0:
        yield from _by_resource(plugin)


def _by_resource(plugin: Listed) -> Iterator[Force]:
    listed = mapping(plugin.arguments.get("resources")) or {"cpu": {}, "memory": {}}
    kinds = {"MostAllocated" if _most(entry) else "LeastAllocated" for entry in listed.values()}
    for kind in sorted(kinds):
        what = f"{kind} of resource-strategy-fit"
        yield Force(what, _place(plugin, "resources"), plugin.name, kind == "MostAllocated")


def _most(entry: object) -> bool:
    return mapping(entry).get("type") == "MostAllocated"


def _place(plugin: Listed, key: str) -> Path:
    return (*plugin.path, "arguments", key) if key in plugin.arguments else (*plugin.path, "name")


def _weight(plugin: Listed, key: str, default: int) -> float:
    """A whole number in quotes counts as meant: that Volcano ignores it is argument-type's."""
    value = plugin.arguments.get(key, default)
    if isinstance(value, str) and value.isdecimal() and value.isascii() and len(value) < 19:
        return int(value)
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else default
