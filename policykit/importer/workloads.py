"""Workload kinds: as generated components say, else guessed from the usages of the pools."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from policykit.importer.draft import Draft
from policykit.importer.found import Component, Found
from policykit.importer.sections import kind as kind_of_policy
from policykit.importer.topology import level_of_key
from policykit.importer.usages import kind_of
from policykit.model.placement import Placement
from policykit.model.topology import Apartness, Closeness, Level
from policykit.model.workload import WorkloadKind
from policykit.policy.levels import LEVELS
from policykit.targets.volcano.objects.topology import Bound, tiers

_WEIGHT = 100
_HOSTNAME = "kubernetes.io/hostname"
ORDER = (
    *("usages", "prefer", "cards", "scheduler", "gang", "within", "across", "placement", "priorityClass"),
    *("queue", "namespaces", "helpers", "autoscaling"),
)


def add_workloads(draft: Draft, found: Found, usage_key: str) -> None:
    """Writes `workloads`, where anything says or hints at some."""
    levels = {**level_of_key(draft, found), _HOSTNAME: "node"}
    for component in found.components:
        found.add_kind(_standing(component, levels, whole=found.levels_whole))
    if found.components:
        kinds = dict.fromkeys(component.workload for component in found.components)
        parts = {kind: [c for c in found.components if c.workload == kind] for kind in kinds}
        data = {kind: _stated(draft, components, usage_key) for kind, components in parts.items()}
    else:
        # A policy that generated files has no kinds that they do not show.
        data = {} if found.policy else _guessed(draft)
    for name, each in found.kinds.items():
        data[name] = _whole(data.get(name, {}), each, found.placements)
    if data:
        draft.data["workloads"] = data


def _standing(component: Component, levels: Mapping[str, str], *, whole: bool) -> WorkloadKind:
    """Gang, closeness and apartness of a component's pods. Spreading over nodes comes with a placement
    as well: another level is the kind's own before that.
    """
    apart = [Apartness(levels[key], hard, skew) for key, hard, skew in component.apart if key in levels]
    return WorkloadKind(
        component.workload,
        gang="all" if component.gang else "",
        gang_rule=component.gang_rule,
        within=_within(component, levels, whole=whole),
        across=min(apart, key=lambda each: each.level == "node", default=None),
    )


def _within(component: Component, levels: Mapping[str, str], *, whole: bool) -> Closeness | None:
    """How close the pods of a job stand: by an affinity to each other, or by a tier of Volcano's.

    `whole`: these are all levels there are, so that they can be counted.
    """
    close = component.close
    if close:
        return Closeness(levels[close[0]], close[1]) if close[0] in levels else None
    bound = component.bound
    level = _level(bound, levels) if bound and (bound.tier_name or whole) else ""
    return Closeness(level, bound.mode == "hard") if bound and level else None


def _level(bound: Bound, levels: Mapping[str, str]) -> str:
    """The level of a tier, which has its name, or is counted from the narrowest level there is."""
    if bound.tier_name:
        return bound.tier_name if bound.tier_name in LEVELS else ""
    key_of = {level: key for key, level in levels.items()}
    known = tiers(Level(level, key_of[level]) for level in LEVELS if level in key_of)
    return next((level for level, tier in known.items() if tier == bound.tier), "")


def _whole(
    placed: Mapping[str, Any], said: WorkloadKind, placements: Mapping[str, Placement]
) -> dict[str, Any]:
    """What components say of a kind, and what its other objects say."""
    whole = said._replace(
        scheduler=placed.get("scheduler", said.scheduler),
        priority_class=placed.get("priorityClass", said.priority_class),
        queue=placed.get("queue", said.queue),
    )
    if whole.scheduler and not whole.placement_name:
        named = [name for name, each in placements.items() if each.scheduler == whole.scheduler]
        whole = whole._replace(placement_name=named[0] if named else "")
    more = kind_of_policy(whole, placements)
    kept = {key: value for key, value in placed.items() if key != "scheduler"}
    return {key: value for key in ORDER for part in (kept, more) if (value := part.get(key)) is not None}


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
