"""YuniKorn's own part of the policy."""

from __future__ import annotations

from typing import Any

from policykit.manifests.path import Path
from policykit.policy.compile.amounts import amounts, resource_of
from policykit.policy.compile.draft import Draft
from policykit.policy.compile.targets.stated import Stated, SystemOptions
from policykit.policy.models.queue import Submit
from policykit.policy.models.targets import yunikorn as written

_FIRST_QUOTA_PREEMPTION = (1, 8, 0)
_SCHEDULER = "yunikorn"
_ROOT = "root"


def options(draft: Draft, path: Path, stated: written.Yunikorn, given: Stated) -> SystemOptions:
    """`TargetSettings.options` of YuniKorn; amounts are numbers, what is as it is by itself is left out."""
    _check(draft, path, stated, given)
    rules, sort = stated.placement_rules, stated.node_sort
    found: dict[str, Any] = {
        "policy_group": stated.policy_group,
        "fallback": stated.fallback,
        "namespace_queues": stated.namespace_queues,
        "placement_rules": None if rules is None else [_rule(rule) for rule in rules],
        "node_sort": _node_sort(draft, (*path, "nodeSort"), sort) if sort else None,
        "quota_preemption": stated.quota_preemption,
        "queues": {
            name: _queue(draft, (*path, "queues", name), name, queue) for name, queue in stated.queues.items()
        },
        "settings": dict(stated.settings),
    }
    return SystemOptions({key: value for key, value in found.items() if value != _default(key)})


def _default(key: str) -> Any:
    return written.Yunikorn.model_fields[key].default


def _check(draft: Draft, path: Path, stated: written.Yunikorn, given: Stated) -> None:
    if stated.scheduler_name != _SCHEDULER:
        message = f"YuniKorn serves schedulerName {_SCHEDULER} alone, not {stated.scheduler_name}"
        draft.problems.error((*path, "schedulerName"), message, "remove schedulerName")
    if stated.quota_preemption and given.release and given.release < _FIRST_QUOTA_PREEMPTION:
        message = f"YuniKorn {stated.version} has no quota preemption, 1.8 is the first that has"
        hint = "remove it, or install 1.8 or newer"
        draft.problems.error((*path, "quotaPreemption"), message, hint, key=True)
    named = {"fallback": (stated.fallback, "default"), "namespaceQueues": (stated.namespace_queues, _ROOT)}
    for key, (name, builtin) in named.items():
        if name and name != builtin and name not in draft.names("queues"):
            draft.problems.error((*path, key), f"{name!r} is no queue of this policy", "name one of `queues`")


def _node_sort(draft: Draft, path: Path, stated: written.NodeSort) -> dict[str, Any]:
    weights: dict[str, float] = {}
    for name, weight in stated.weights.items():
        place = (*path, "weights", name)
        resource = resource_of(draft, place, name)
        if weight < 0:
            draft.problems.error(place, f"weight of {name} is below zero: {weight:g}")
        elif resource:
            weights[resource] = weight
    return {"type": stated.type, "weights": weights}


def _rule(rule: written.PlacementRule) -> dict[str, Any]:
    chosen = rule.filter
    return {
        "name": rule.name,
        "value": rule.value,
        "create": rule.create,
        "filter": {"type": chosen.type, "users": chosen.users, "groups": chosen.groups} if chosen else {},
        "parent": _rule(rule.parent) if rule.parent else None,
    }


def _queue(draft: Draft, path: Path, name: str, stated: written.QueueOptions) -> dict[str, Any]:
    if name != _ROOT and name not in draft.names("queues"):
        draft.problems.error(path, f"{name!r} is no queue of this policy", "name one of `queues`", key=True)
    template = stated.child_template
    return {
        "admins": _people(stated.admins),
        "max_applications": stated.max_applications,
        "properties": dict(stated.properties),
        "child_template": _template(draft, (*path, "childTemplate"), template) if template else None,
        "limits": [
            {
                "description": limit.description,
                "users": limit.users,
                "groups": limit.groups,
                "max": amounts(draft, (*path, "limits", number, "max"), limit.max),
                "max_applications": limit.max_applications,
            }
            for number, limit in enumerate(stated.limits)
        ],
    }


def _people(stated: Submit | None) -> dict[str, Any] | None:
    return {"users": stated.users, "groups": stated.groups} if stated else None


def _template(draft: Draft, path: Path, stated: written.ChildTemplate) -> dict[str, Any]:
    return {
        "max_applications": stated.max_applications,
        "guarantee": amounts(draft, (*path, "guarantee"), stated.guarantee),
        "limit": amounts(draft, (*path, "limit"), stated.limit),
        "properties": dict(stated.properties),
    }
