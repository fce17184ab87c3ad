"""Workload kinds: as generated components say, else guessed from the usages of the pools."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from policykit.importer.draft import Draft
from policykit.importer.found import Component, Found
from policykit.importer.usages import kind_of

_WEIGHT = 100


def add_workloads(draft: Draft, found: Found, usage_key: str) -> None:
    """Writes `workloads`, where anything says or hints at some."""
    if found.components:
        kinds = dict.fromkeys(component.workload for component in found.components)
        parts = {kind: [c for c in found.components if c.workload == kind] for kind in kinds}
        data = {kind: _stated(draft, components, usage_key) for kind, components in parts.items()}
    else:
        # A policy that generated files has no kinds that they do not show.
        data = {} if found.policy else _guessed(draft)
    if data:
        draft.data["workloads"] = data


def _stated(draft: Draft, components: list[Component], usage_key: str) -> dict[str, Any]:
    kind: dict[str, Any] = {}
    placed = [component for component in components if component.card]
    usages = next((values for c in placed for key, values in c.required if key == usage_key), ())
    prefer = {value: weight for c in placed for weight, key, value in c.preferred if key == usage_key}
    if usages:
        kind["usages"] = list(usages)
    if prefer:
        kind["prefer"] = prefer
    cards = _cards(draft, usages, [component.card for component in placed])
    if cards is not None:
        kind["cards"] = cards
    first = components[0]
    for name, value in (
        ("scheduler", first.scheduler),
        ("priorityClass", first.priority_class),
        ("queue", first.queue),
    ):
        if value:
            kind[name] = value
    if len(placed) == len(components) and _has_cpu_pools(draft):
        kind["helpers"] = []
    return kind


def _cards(draft: Draft, usages: Iterable[str], served: list[str]) -> list[str] | str | None:
    """None: any card, since there is a component for each that a pool of its usages has."""
    if not served:
        return "none" if draft.data.get("cards") else None
    allowed = set(usages)
    there = {
        pool["card"]
        for pool in draft.data["pools"].values()
        if "card" in pool and (not allowed or pool.get("usage") in allowed)
    }
    known = [card for card in draft.data.get("cards", {}) if card in served]
    return known if known and there - set(served) else None


def _has_cpu_pools(draft: Draft) -> bool:
    return any("card" not in pool for pool in draft.data["pools"].values())


def _guessed(draft: Draft) -> dict[str, Any]:
    """One kind per usage for training and for inference, which may spill over to hybrid nodes."""
    usages = list(dict.fromkeys(p["usage"] for p in draft.data["pools"].values() if "usage" in p))
    spare = [usage for usage in usages if kind_of(usage) == "hybrid"]
    kinds: dict[str, Any] = {}
    for usage in usages:
        if kind_of(usage) in ("training", "inference"):
            kinds[usage] = {"usages": [usage, *spare], "prefer": {usage: _WEIGHT}}
            draft.note(("workloads", usage), "guessed from the usages of the pools")
    return kinds
