"""The topology of nodes: levels such as zones, racks and switches as labels, and ranges of node names."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from fnmatch import fnmatchcase

from policykit.kube.names import label_value_problem
from policykit.manifests.path import Path
from policykit.model.topology import LEVELS, Level, default_key
from policykit.policy.compile.draft import Draft
from policykit.policy.models.pool import NodeTopology, PoolTopology
from policykit.policy.problems import did_you_mean

_RANGE = re.compile(r"([^\[\]]*)\[([0-9]{1,18})-([0-9]{1,18})\]([^\[\]]*)\Z")
_GLOB = re.compile(r"[*?\[]")
LARGEST_RANGE = 100_000


def expand_range(name: str) -> tuple[str, ...] | None:
    """The names that a name or range stands for; None if the range is reversed or too long.

    The width of the first number is kept: gpu-[08-10] is gpu-08, gpu-09, gpu-10.
    """
    match = _RANGE.match(name)
    if not match:
        return (name,)
    before, first, last, after = match.groups()
    numbers = range(int(first), int(last) + 1)
    if not numbers or len(numbers) > LARGEST_RANGE:
        return None
    return tuple(f"{before}{number:0{len(first)}d}{after}" for number in numbers)


def matching_names(names: Collection[str], pattern: str) -> tuple[str, ...]:
    """The names that a name, range or glob matches. Only globs scan the whole mapping or set."""
    if _RANGE.match(pattern):
        return tuple(name for name in expand_range(pattern) or () if name in names)
    if _GLOB.search(pattern):
        return tuple(name for name in names if fnmatchcase(name, pattern))
    return (pattern,) if pattern in names else ()


TopologyLabels = Mapping[str, Mapping[str, str]]
"""Node name to its topology labels."""


def node_topology(
    draft: Draft, path: Path, topology: tuple[NodeTopology, ...], names: tuple[str, ...]
) -> TopologyLabels:
    """Topology labels of each node in `topology`; later entries win."""
    placed: dict[str, dict[str, str]] = {}
    known = dict.fromkeys(names)
    for number, place in enumerate(topology):
        labels = topology_labels(draft, (*path, number), place)
        if not place.nodes:
            draft.problems.error(
                (*path, number, "nodes"), "this topology entry has no nodes", "add nodes: [...]"
            )
        for index, pattern in enumerate(place.nodes):
            meant = matching_names(known, pattern)
            if not meant:
                message = f"no node of this pool matches {pattern!r}"
                hint = (
                    did_you_mean(pattern, names) if names else "list the pool's nodes: nodes: {names: [...]}"
                )
                draft.problems.error((*path, number, "nodes", index), message, hint)
            for name in meant:
                placed[name] = {**placed.get(name, {}), **labels}
    return placed


def topology_labels(draft: Draft, path: Path, place: PoolTopology) -> dict[str, str]:
    """Label keys and values of the levels in a topology entry."""
    labels: dict[str, str] = {}
    for level in LEVELS:
        value = str(getattr(place, level))
        key = level_key(draft, (*path, level), level) if value else ""
        if key:
            draft.check((*path, level), f"{level} {value!r}", label_value_problem(value))
            labels[key] = value
    return labels


def group_by_topology(
    names: tuple[str, ...], placed: TopologyLabels
) -> dict[tuple[tuple[str, str], ...], tuple[str, ...]]:
    """Node names grouped by topology labels, in order."""
    groups: dict[tuple[tuple[str, str], ...], list[str]] = {}
    for name in names:
        groups.setdefault(tuple(sorted(placed.get(name, {}).items())), []).append(name)
    return {labels: tuple(group) for labels, group in groups.items()}


def compile_levels(draft: Draft) -> tuple[Level, ...]:
    """Levels that a pool, a workload kind or the scheme uses, widest first."""
    used = _of_pools(draft) | _of_workloads(draft)
    keys = {level: _key(draft, level) for level in LEVELS if level in used or _stated(draft, level)}
    found = tuple(Level(level, key) for level, key in keys.items() if key)
    _check_distinct(draft, found)
    return found


def level_key(draft: Draft, path: Path, level: str) -> str:
    """Label key of a level used at `path`; reports a level without one."""
    key = _key(draft, level)
    if not key:
        message = f"{level} has no label key because the policy has no domain"
        hint = f"add domain: example.com, or scheme.topology.{level}"
        draft.problems.error(path, message, hint, key=path[-1] == level)
    return key


def _key(draft: Draft, level: str) -> str:
    return _stated(draft, level) or default_key(level, draft.policy.domain)


def _stated(draft: Draft, level: str) -> str:
    scheme = draft.policy.scheme
    return "" if isinstance(scheme, str) else str(getattr(scheme.topology, level))


def _of_pools(draft: Draft) -> set[str]:
    topologies = [pool.topology for pool in draft.policy.pools.values()]
    places = [
        place
        for topology in topologies
        for place in ((topology,) if isinstance(topology, PoolTopology) else topology)
    ]
    return {level for level in LEVELS if any(getattr(place, level) for place in places)}


def _of_workloads(draft: Draft) -> set[str]:
    wanted = [each for kind in draft.policy.workloads.values() for each in (kind.within, kind.across)]
    return {each.level for each in wanted if each is not None and each.level}


def _check_distinct(draft: Draft, levels: tuple[Level, ...]) -> None:
    homes: dict[str, str] = {}
    for level in levels:
        home = homes.setdefault(level.key, level.name)
        if home != level.name:
            stated = level.name if _stated(draft, level.name) else home
            message = f"{home} and {level.name} have the same label key, {level.key}"
            draft.problems.error(("scheme", "topology", stated), message, "give each level its own key")
