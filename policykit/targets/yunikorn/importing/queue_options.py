"""Reads settings of queues that only YuniKorn has back as `targets.yunikorn.queues`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policykit.model.inventory import Inventory
from policykit.model.policy_values import quantities, without_empty
from policykit.targets.yunikorn.configuration import access_lists, properties, resources
from policykit.targets.yunikorn.configuration.queues_yaml import ChildTemplate, Limit, Queue
from policykit.targets.yunikorn.names import ROOT
from policykit.targets.yunikorn.versions import parse

TARGET = "yunikorn"


def add_queue_options(root: Queue, given: Mapping[str, str], inventory: Inventory) -> None:
    """Adds the settings of every queue. `given` maps full path to the name in the policy."""
    stated = dict(_all(root, ROOT, 0, given, inventory))
    if stated:
        inventory.option(TARGET, "queues", stated)


def _all(
    queue: Queue, path: str, above: int, given: Mapping[str, str], inventory: Inventory
) -> Iterator[tuple[str, dict[str, Any]]]:
    """`above`: maxapplications of the parent, which a queue inherits."""
    stated = _options(given[path], queue, above, inventory)
    if stated:
        yield given[path], stated
    for child in queue.queues:
        yield from _all(child, f"{path}.{child.name.lower()}", queue.applications, given, inventory)


def _options(name: str, queue: Queue, above: int, inventory: Inventory) -> dict[str, Any]:
    admins = access_lists.read(queue.admin)
    if admins is None:
        inventory.say(f"queue {name}: adminacl {queue.admin!r} is invalid in YuniKorn; left out")
    return without_empty(
        admins=without_empty(**admins._asdict()) if admins else None,
        maxApplications=queue.applications if queue.applications not in (0, above) else None,
        properties=_properties(name, queue.properties, inventory, shared=name != ROOT),
        childTemplate=_template(name, queue.template, inventory),
        limits=[_limit(limit) for limit in queue.limits],
    )


def _properties(
    name: str, stated: Mapping[str, str], inventory: Inventory, *, shared: bool
) -> dict[str, str]:
    """Properties with an effect; `shared`: without those that the queue itself states in a policy."""
    kept: dict[str, str] = {}
    newest = parse("")
    for key, text in properties.newest_names(stated).items():
        problem = properties.problem(key, text, newest)
        if problem:
            inventory.say(f"queue {name}: property {key} {problem}; left out")
        elif not (shared and _of_policy(key, text)):
            kept[key] = text
    return kept


def _of_policy(key: str, text: str) -> bool:
    """Whether the queue's `priority` or `reclaimable` states it."""
    if key == properties.OFFSET:
        return text.isdecimal()
    return key == properties.PREEMPTION and text.lower() == "disabled"


def _template(name: str, template: ChildTemplate, inventory: Inventory) -> dict[str, Any]:
    return without_empty(
        maxApplications=template.applications or None,
        guarantee=quantities(resources.to_amounts(template.resources.guaranteed)),
        limit=quantities(resources.to_amounts(template.resources.maximum)),
        properties=_properties(name, template.properties, inventory, shared=False),
    )


def _limit(limit: Limit) -> dict[str, Any]:
    return without_empty(
        description=limit.description,
        users=limit.users,
        groups=limit.groups,
        max=quantities(resources.to_amounts(limit.resources)),
        maxApplications=limit.applications or None,
    )
