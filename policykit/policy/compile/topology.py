"""The topology of nodes: zones, racks, switches and so on as labels."""

from __future__ import annotations

from collections.abc import Mapping

from policykit.kube.names import label_value_problem
from policykit.manifests.path import Path
from policykit.model.topology import LEVELS
from policykit.policy.compile.draft import Draft
from policykit.policy.compile.levels import level_key
from policykit.policy.models.nodes import Place, PlaceOf
from policykit.policy.node_names import chosen
from policykit.policy.suggest import did_you_mean

Placing = Mapping[str, Mapping[str, str]]
"""Node name to its topology labels."""


def placing(draft: Draft, path: Path, topology: tuple[PlaceOf, ...], names: tuple[str, ...]) -> Placing:
    """Topology labels of each node in `topology`; later entries win."""
    placed: dict[str, dict[str, str]] = {}
    known = dict.fromkeys(names)
    for number, place in enumerate(topology):
        labels = place_labels(draft, (*path, number), place)
        if not place.nodes:
            draft.problems.error(
                (*path, number, "nodes"), "this topology entry has no nodes", "add nodes: [...]"
            )
        for index, pattern in enumerate(place.nodes):
            meant = chosen(known, pattern)
            if not meant:
                message = f"no node of this pool matches {pattern!r}"
                hint = (
                    did_you_mean(pattern, names) if names else "list the pool's nodes: nodes: {names: [...]}"
                )
                draft.problems.error((*path, number, "nodes", index), message, hint)
            for name in meant:
                placed[name] = {**placed.get(name, {}), **labels}
    return placed


def place_labels(draft: Draft, path: Path, place: Place) -> dict[str, str]:
    """Label keys and values of the levels in a topology entry."""
    labels: dict[str, str] = {}
    for level in LEVELS:
        value = str(getattr(place, level))
        key = level_key(draft, (*path, level), level) if value else ""
        if key:
            draft.check((*path, level), f"{level} {value!r}", label_value_problem(value))
            labels[key] = value
    return labels


def grouped(names: tuple[str, ...], placed: Placing) -> dict[tuple[tuple[str, str], ...], tuple[str, ...]]:
    """Node names grouped by topology labels, in order."""
    groups: dict[tuple[tuple[str, str], ...], list[str]] = {}
    for name in names:
        groups.setdefault(tuple(sorted(placed.get(name, {}).items())), []).append(name)
    return {labels: tuple(group) for labels, group in groups.items()}
