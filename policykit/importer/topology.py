"""Labels that tell where nodes stand, as levels of the topology."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from policykit.importer import names
from policykit.importer.draft import Draft
from policykit.importer.found import Found
from policykit.policy.levels import LEVELS, default_key
from policykit.policy.node_names import expand


def add_topology(draft: Draft, found: Found) -> None:
    """Writes `topology` of pools, and of the scheme where its keys are not the usual ones or not shown."""
    by_key = level_of_key(draft, found)
    for pool in draft.data["pools"].values():
        _located(pool, by_key)
    usual = _usual(draft)
    levels = {level: key for key, level in by_key.items()}
    shown = _shown(draft.data)
    stated = {
        level: key
        for level, key in levels.items()
        if level in found.levels and (key != usual[level] or level not in shown)
    }
    if stated:
        scheme = draft.data["scheme"]
        parts = {"preset": scheme} if isinstance(scheme, str) else scheme
        draft.data["scheme"] = {**parts, "topology": stated}


def level_of_key(draft: Draft, found: Found) -> dict[str, str]:
    """Node label key to the level it tells: as files say, and by default where they say nothing of levels."""
    usual = {} if found.levels_whole else _usual(draft)
    levels = {level: found.levels.get(level, usual.get(level, "")) for level in LEVELS}
    return {key: level for level, key in levels.items() if key}


def _usual(draft: Draft) -> dict[str, str]:
    return {level: default_key(level, draft.data.get("domain", "")) for level in LEVELS}


def _located(pool: dict[str, Any], by_key: Mapping[str, str]) -> None:
    """A pool's labels, or those of its shapes, that are a level's."""
    place = _taken(pool, by_key)
    topology: Any = place
    nodes = pool["nodes"] if isinstance(pool.get("nodes"), list) else []
    if nodes and all("names" in shape["nodes"] for shape in nodes):
        places = [(shape["nodes"]["names"], _taken(shape, by_key)) for shape in nodes]
        if any(where for _, where in places):
            pool["nodes"] = _joined(nodes)
            every = [(listed, {**place, **where}) for listed, where in places]
            topology = [{"nodes": list(listed), **_ordered(where)} for listed, where in every if where]
    if topology:
        pool["topology"] = topology
        _last(pool, "labels", "unschedulable", "scheme")


def _taken(holder: dict[str, Any], by_key: Mapping[str, str]) -> dict[str, str]:
    """The place that labels tell, widest level first; those labels are taken out."""
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


def _joined(nodes: list[dict[str, Any]]) -> Any:
    """Shapes that differ in nothing but place are one list of names."""
    if any(shape.keys() != {"nodes"} for shape in nodes):
        return nodes
    listed = [name for shape in nodes for each in shape["nodes"]["names"] for name in expand(each) or ()]
    return {"names": names.ranges(tuple(sorted(listed)))}


def _last(pool: dict[str, Any], *keys: str) -> None:
    """Moves keys behind the others, in the order of the policy format."""
    for key in keys:
        if key in pool:
            pool[key] = pool.pop(key)


def _shown(policy: Mapping[str, Any]) -> set[str]:
    topologies: Iterable[Any] = [pool.get("topology", {}) for pool in policy["pools"].values()]
    kinds = policy.get("workloads", {}).values()
    wanted = {kind[key]["level"] for kind in kinds for key in ("within", "across") if key in kind}
    places = [place for each in topologies for place in (each if isinstance(each, list) else [each])]
    return wanted | {level for place in places for level in place}
