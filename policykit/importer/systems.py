"""Target systems of a policy, and the sections that apply to all of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policykit.importer.draft import Draft
from policykit.importer.inventory import Inventory
from policykit.importer.sections import placement, preemption, priority, queue, quota, reservation, tenant

_SERVED = {
    "kubernetes": "default-scheduler",
    "volcano": "volcano",
    "koordinator": "koord-scheduler",
    "yunikorn": "yunikorn",
    "kueue": "",
}
_ORDER = ("version", "delivery", "namespace", "schedulerName", "fit")


def add_systems(draft: Draft, inventory: Inventory) -> None:
    """Writes `placements`, `queues`, `tenants` and so on, `schedulers` and `targets`."""
    sections: dict[str, dict[str, Any]] = {
        "placements": {name: placement(each) for name, each in inventory.placements.items()},
        "queues": {name: queue(each) for name, each in inventory.queues.items()},
        "tenants": {name: tenant(each) for name, each in inventory.tenants.items()},
        "priorities": {name: priority(each) for name, each in inventory.priorities.items()},
        "preemption": preemption(inventory.preemption),
        "quotas": {name: quota(each) for name, each in inventory.quotas.items()},
        "reservations": {name: reservation(each) for name, each in inventory.reservations.items()},
    }
    draft.data.update({name: section for name, section in sections.items() if section})
    for name in ("workloads", *sections):
        # Placements come before the workload kinds that name them, and those before the other sections.
        if name in draft.data and name != "placements":
            draft.data[name] = draft.data.pop(name)
    systems = [name for name in _SERVED if inventory.targets.get(name) or _in_play(inventory, name)]
    if systems:
        draft.data["targets"] = {name: _target(draft, name, inventory.targets[name]) for name in systems}
    served = {inventory.targets[name].get("schedulerName", _SERVED[name]) for name in systems}
    served |= {each.scheduler for each in inventory.placements.values()}
    others = [name for name in inventory.schedulers if name not in served]
    if others:
        draft.data["schedulers"] = others


def _in_play(inventory: Inventory, name: str) -> bool:
    """Whether files mention a system; Kubernetes is always one."""
    return name in inventory.targets and name != "kubernetes"


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
