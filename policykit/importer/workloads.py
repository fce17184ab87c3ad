"""Workload kinds: from generated components, else guessed from the usages of the pools."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from policykit.importer.draft import Draft
from policykit.importer.label_scheme import kind_of
from policykit.importer.sections import kind as kind_of_policy
from policykit.importer.topology import level_of_key
from policykit.model.inventory import Component, Inventory, LevelBound
from policykit.model.topology import LEVELS, TopologyAffinity, TopologySpread
from policykit.model.workload import Placement, WorkloadKind

_WEIGHT = 100
_ROLES = {"training": "training", "inference": "serving"}
_HOSTNAME = "kubernetes.io/hostname"
ORDER = (
    *(
        "role",
        "usages",
        "prefer",
        "cards",
        "scheduler",
        "gang",
        "within",
        "across",
        "placement",
        "priorityClass",
    ),
    *("queue", "namespaces", "helpers", "autoscaling"),
)


def add_workloads(draft: Draft, inventory: Inventory, usage_key: str) -> None:
    """Writes `workloads` if any are stated or can be guessed."""
    levels = {**level_of_key(draft, inventory), _HOSTNAME: "node"}
    for component in inventory.components:
        inventory.add_kind(_topology_of(component, levels, whole=inventory.levels_complete))
    if inventory.components:
        kinds = dict.fromkeys(component.workload for component in inventory.components)
        parts = {kind: [c for c in inventory.components if c.workload == kind] for kind in kinds}
        data = {kind: _from_components(draft, components, usage_key) for kind, components in parts.items()}
    else:
        # Generated files include a component for every kind of their policy.
        data = {} if inventory.policy else _guessed_kinds(draft)
    for name, each in inventory.kinds.items():
        data[name] = _merged(data.get(name, {}), each, inventory.placements)
    if data:
        draft.data["workloads"] = data


def _topology_of(component: Component, levels: Mapping[str, str], *, whole: bool) -> WorkloadKind:
    """Gang and topology of a component's pods. A placement spreads over nodes too, so another level
    takes precedence.
    """
    spread = [
        TopologySpread(levels[key], hard, skew) for key, hard, skew in component.spread if key in levels
    ]
    return WorkloadKind(
        component.workload,
        gang="all" if component.gang else "",
        gang_rule=component.gang_rule,
        within=_within(component.within, levels, whole=whole),
        across=min(spread, key=lambda each: each.level == "node", default=None),
    )


def _within(bound: LevelBound | None, levels: Mapping[str, str], *, whole: bool) -> TopologyAffinity | None:
    """Level that the pods of a job stay within. `whole`: `levels` is complete, so a number identifies one."""
    if bound is None:
        return None
    if bound.key:
        level = levels.get(bound.key, "")
    elif bound.level:
        level = bound.level if bound.level in LEVELS else ""
    else:
        level = _numbered_level(bound.number or 0, levels) if whole else ""
    return TopologyAffinity(level, bound.hard) if level else None


def _numbered_level(number: int, levels: Mapping[str, str]) -> str:
    """A level by its number, counted from the narrowest; empty: there is none."""
    narrowest_first = [level for level in reversed(LEVELS) if level in levels.values()]
    return narrowest_first[number - 1] if 0 < number <= len(narrowest_first) else ""


def _merged(
    placed: Mapping[str, Any], kind: WorkloadKind, placements: Mapping[str, Placement]
) -> dict[str, Any]:
    """A kind from its components and its other objects."""
    whole = kind._replace(
        scheduler=placed.get("scheduler", kind.scheduler),
        priority_class=placed.get("priorityClass", kind.priority_class),
        queue=placed.get("queue", kind.queue),
    )
    if whole.scheduler and not whole.placement_name:
        named = [name for name, each in placements.items() if each.scheduler == whole.scheduler]
        whole = whole._replace(placement_name=named[0] if named else "")
    more = kind_of_policy(whole, placements)
    kept = {key: value for key, value in placed.items() if key != "scheduler"}
    return {key: value for key in ORDER for part in (kept, more) if (value := part.get(key)) is not None}


def _from_components(draft: Draft, components: list[Component], usage_key: str) -> dict[str, Any]:
    kind: dict[str, Any] = {}
    placed = [component for component in components if component.card]
    usages = next((values for c in placed for key, values in c.required if key == usage_key), ())
    prefer = {value: weight for c in placed for weight, key, value in c.preferred if key == usage_key}
    kind |= _role(prefer) or _role(usages)
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


def _role(usages: Iterable[str]) -> dict[str, str]:
    """The role that the names of usages suggest; empty: none, or more than one."""
    roles = {_ROLES.get(kind_of(usage), "") for usage in usages if kind_of(usage) != "hybrid"}
    return {"role": role} if len(roles) == 1 and (role := roles.pop()) else {}


def _cards(draft: Draft, usages: Iterable[str], served: list[str]) -> list[str] | str | None:
    """None: any card, because there is a component for each card in pools of its usages."""
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


def _guessed_kinds(draft: Draft) -> dict[str, Any]:
    """One kind for each usage for training or inference; it may also use hybrid nodes."""
    usages = list(dict.fromkeys(p["usage"] for p in draft.data["pools"].values() if "usage" in p))
    spare = [usage for usage in usages if kind_of(usage) == "hybrid"]
    kinds: dict[str, Any] = {}
    for usage in usages:
        if kind_of(usage) in ("training", "inference"):
            kinds[usage] = {**_role([usage]), "usages": [usage, *spare], "prefer": {usage: _WEIGHT}}
            draft.note(("workloads", usage), "guessed from the usages of the pools")
    return kinds
