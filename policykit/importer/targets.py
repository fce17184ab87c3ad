"""Systems in play, and the sections of a policy that hold for all of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policykit.importer.draft import Draft
from policykit.importer.found import Found
from policykit.importer.sections import placement, preemption, priority, queue, quota, reservation, tenant

_SERVED = {
    "kubernetes": "default-scheduler",
    "volcano": "volcano",
    "koordinator": "koord-scheduler",
    "yunikorn": "yunikorn",
}
_ORDER = ("version", "delivery", "namespace", "schedulerName", "fit")


def add_systems(draft: Draft, found: Found) -> None:
    """Writes `placements`, `queues`, `tenants` and so on, `schedulers` and `targets`."""
    sections: dict[str, dict[str, Any]] = {
        "placements": {name: placement(each) for name, each in found.placements.items()},
        "queues": {name: queue(each) for name, each in found.queues.items()},
        "tenants": {name: tenant(each) for name, each in found.tenants.items()},
        "priorities": {name: priority(each) for name, each in found.priorities.items()},
        "preemption": preemption(found.preemption),
        "quotas": {name: quota(each) for name, each in found.quotas.items()},
        "reservations": {name: reservation(each) for name, each in found.reservations.items()},
    }
    draft.data.update({name: section for name, section in sections.items() if section})
    for name in ("workloads", *sections):
        # Placements stand above the kinds that name them, and those above all others.
        if name in draft.data and name != "placements":
            draft.data[name] = draft.data.pop(name)
    systems = [name for name in _SERVED if found.targets.get(name) or _in_play(found, name)]
    if systems:
        draft.data["targets"] = {name: _target(draft, name, found.targets[name]) for name in systems}
    served = {found.targets[name].get("schedulerName", _SERVED[name]) for name in systems}
    served |= {each.scheduler for each in found.placements.values()}
    others = [name for name in found.schedulers if name not in served]
    if others:
        draft.data["schedulers"] = others


def _in_play(found: Found, name: str) -> bool:
    """Kubernetes is one of the systems by itself."""
    return name in found.targets and name != "kubernetes"


def _target(draft: Draft, name: str, says: Mapping[str, Any]) -> dict[str, Any]:
    keys = [key for key in _ORDER if key in says]
    target = {key: says[key] for key in (*keys, *(key for key in says if key not in keys))}
    if target.get("schedulerName") == _SERVED[name]:
        del target["schedulerName"]
    if "fit" in target:
        cards = draft.data.get("cards", {})
        short = {data["resource"]: card for card, data in cards.items() if "resource" in data}
        target["fit"] = {short.get(resource, resource): each for resource, each in target["fit"].items()}
    return target
