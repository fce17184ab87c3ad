"""Topology levels: their label keys, and which of them the policy uses."""

from __future__ import annotations

from policykit.manifests.path import Path
from policykit.model.topology import LEVELS, Level
from policykit.policy.compile.draft import Draft
from policykit.policy.levels import default_key
from policykit.policy.models.nodes import Place


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
        for place in ((topology,) if isinstance(topology, Place) else topology)
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
