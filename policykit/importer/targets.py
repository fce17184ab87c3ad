"""Systems in play, queues, priorities and quotas as a policy states them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policykit.importer.amounts import amounts
from policykit.importer.draft import Draft
from policykit.importer.found import Found
from policykit.model.queue import Priority, Queue, Quota

_SYSTEMS = ("volcano", "koordinator", "yunikorn")
_SERVED = {"volcano": "volcano", "koordinator": "koord-scheduler", "yunikorn": "yunikorn"}


def add_systems(draft: Draft, found: Found) -> None:
    """Writes `queues`, `priorities`, `quotas`, `schedulers` and `targets`."""
    sections = {
        "queues": {name: _queue(queue) for name, queue in found.queues.items()},
        "priorities": {name: _priority(priority) for name, priority in found.priorities.items()},
        "quotas": {name: _quota(quota) for name, quota in found.quotas.items()},
    }
    draft.data.update({name: section for name, section in sections.items() if section})
    if found.targets:
        draft.data["targets"] = {
            name: _target(draft, name, found.targets[name]) for name in _SYSTEMS if name in found.targets
        }
    served = {
        found.targets[name].get("schedulerName", _SERVED[name]) for name in _SYSTEMS if name in found.targets
    }
    others = [name for name in found.schedulers if name not in served]
    if others:
        draft.data["schedulers"] = others


def _target(draft: Draft, name: str, says: Mapping[str, Any]) -> dict[str, Any]:
    order = ("version", "delivery", "namespace", "schedulerName", "fit")
    target = {key: says[key] for key in order if key in says}
    if target.get("schedulerName") == _SERVED[name]:
        del target["schedulerName"]
    if "fit" in target:
        cards = draft.data.get("cards", {})
        short = {data["resource"]: card for card, data in cards.items() if "resource" in data}
        target["fit"] = {short.get(resource, resource): each for resource, each in target["fit"].items()}
    return target


def _queue(queue: Queue) -> dict[str, Any]:
    says: dict[str, Any] = {
        "parent": queue.parent,
        "weight": queue.weight if queue.weight != 1 else None,
        "guarantee": amounts(queue.guarantee),
        "deserved": amounts(queue.deserved),
        "limit": amounts(queue.limit),
    }
    data = {key: value for key, value in says.items() if value}
    if queue.priority is not None:
        data["priority"] = queue.priority
    if not queue.reclaimable:
        data["reclaimable"] = False
    return data


def _priority(priority: Priority) -> dict[str, Any]:
    data: dict[str, Any] = {"value": priority.value}
    if not priority.preempts:
        data["preempts"] = False
    if priority.default:
        data["default"] = True
    if priority.description:
        data["description"] = priority.description
    return data


def _quota(quota: Quota) -> dict[str, Any]:
    data: dict[str, Any] = {"namespace": quota.namespace} if quota.namespace != quota.name else {}
    for key, counted in (("requests", quota.requests), ("limits", quota.limits)):
        if counted:
            data[key] = amounts(counted)
    if quota.pods is not None:
        data["pods"] = quota.pods
    return data
