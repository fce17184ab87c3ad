"""Location labels of nodes as levels of the topology."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from policykit.importer import names
from policykit.importer.draft import Draft
from policykit.model.inventory import Inventory
from policykit.model.topology import LEVELS, default_key
from policykit.policy.compile.topology import expand_range


def add_topology(draft: Draft, inventory: Inventory) -> None:
    """Writes `topology` of pools, and of the scheme for keys that are not the defaults or not used."""
    by_key = level_of_key(draft, inventory)
    for pool in draft.data["pools"].values():
        _locate_pool(pool, by_key)
    usual = _usual(draft)
    levels = {level: key for key, level in by_key.items()}
    shown = _used_levels(draft.data)
    stated = {
        level: key
        for level, key in levels.items()
        if (level in inventory.levels and (key != usual[level] or level not in shown))
        or (level in shown and key != usual[level])
    }
    if stated:
        scheme = draft.data["scheme"]
        parts = {"preset": scheme} if isinstance(scheme, str) else scheme
        draft.data["scheme"] = {**parts, "topology": stated}


def level_of_key(draft: Draft, inventory: Inventory) -> dict[str, str]:
    """Node label key to level: from the files, else the defaults, else what nodes have by that name."""
    usual = {} if inventory.levels_complete else _usual(draft)
    carried = {key for node in inventory.nodes.values() for key in node.labels}
    levels = {}
    for level in LEVELS:
        stated, default = inventory.levels.get(level, ""), usual.get(level, "")
        named = sorted(key for key in carried if usual and key.rpartition("/")[2] == level)
        levels[level] = stated or (named[0] if named and default not in carried else default)
    return {key: level for level, key in levels.items() if key}


def _usual(draft: Draft) -> dict[str, str]:
    return {level: default_key(level, draft.data.get("domain", "")) for level in LEVELS}


def _locate_pool(pool: dict[str, Any], by_key: Mapping[str, str]) -> None:
    """Turns the level labels of a pool, or of its shapes, into `topology`."""
    place = _take_location(pool, by_key)
    topology: Any = place
    nodes = pool["nodes"] if isinstance(pool.get("nodes"), list) else []
    if nodes and all("names" in shape["nodes"] for shape in nodes):
        places = [(shape["nodes"]["names"], _take_location(shape, by_key)) for shape in nodes]
        if any(where for _, where in places):
            pool["nodes"] = _merge_shapes(nodes)
            every = [(listed, {**place, **where}) for listed, where in places]
            topology = [{"nodes": list(listed), **_ordered(where)} for listed, where in every if where]
    if topology:
        pool["topology"] = topology
        _move_last(pool, "labels", "unschedulable", "scheme")


def _take_location(holder: dict[str, Any], by_key: Mapping[str, str]) -> dict[str, str]:
    """Removes the level labels and returns the location, widest level first."""
    labels = holder.get("labels", {})
    place = {by_key[key]: value for key, value in labels.items() if key in by_key and value}
    kept = {key: value for key, value in labels.items() if by_key.get(key) not in place}
    if kept:
        holder["labels"] = kept
    elif labels:
        del holder["labels"]
    return _ordered(place)


def _ordered(place: Mapping[str, str]) -> dict[str, str]:
    """Widest level first."""
    return {level: place[level] for level in LEVELS if level in place}


def _merge_shapes(nodes: list[dict[str, Any]]) -> Any:
    """Merges shapes that differ only in location into one list of names."""
    if any(shape.keys() != {"nodes"} for shape in nodes):
        return nodes
    listed = [
        name for shape in nodes for each in shape["nodes"]["names"] for name in expand_range(each) or ()
    ]
    return {"names": names.ranges(tuple(sorted(listed)))}


def _move_last(pool: dict[str, Any], *keys: str) -> None:
    """Moves keys to the end, in the order of the policy format."""
    for key in keys:
        if key in pool:
            pool[key] = pool.pop(key)


def _used_levels(policy: Mapping[str, Any]) -> set[str]:
    topologies: Iterable[Any] = [pool.get("topology", {}) for pool in policy["pools"].values()]
    kinds = policy.get("workloads", {}).values()
    wanted = {kind[key]["level"] for kind in kinds for key in ("within", "across") if key in kind}
    places = [place for each in topologies for place in (each if isinstance(each, list) else [each])]
    return wanted | {level for place in places for level in place}
