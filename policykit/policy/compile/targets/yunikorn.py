"""Options for YuniKorn, compiled."""

from __future__ import annotations

from policykit.manifests.path import Path
from policykit.model.cluster import TargetSettings
from policykit.model.queue import Submitters
from policykit.policy.compile.amounts import amounts, resource_of
from policykit.policy.compile.draft import Draft
from policykit.policy.compile.releases import Release
from policykit.policy.models.targets import yunikorn as written
from policykit.targets.yunikorn.configuration.placement_rules import Filter, Rule
from policykit.targets.yunikorn.configuration.queues_yaml import ChildTemplate, Limit, NodeSort
from policykit.targets.yunikorn.configuration.values import CORES, Resources, from_amounts
from policykit.targets.yunikorn.options import QueueOptions, YuniKornOptions
from policykit.targets.yunikorn.versions import QUOTA_PREEMPTION

_SCHEDULER = "yunikorn"
_ROOT = "root"


def compile_options(
    draft: Draft, path: Path, stated: written.Yunikorn, installed: Release | None
) -> TargetSettings:
    """The options of YuniKorn, checked."""
    _check(draft, path, stated, installed)
    rules, sort = stated.placement_rules, stated.node_sort
    return TargetSettings(
        "yunikorn",
        options=YuniKornOptions(
            stated.policy_group,
            stated.fallback,
            stated.namespace_queues,
            None if rules is None else tuple(map(_rule, rules)),
            _node_sort(draft, (*path, "nodeSort"), sort) if sort else None,
            stated.quota_preemption,
            {
                name: _queue(draft, (*path, "queues", name), name, queue)
                for name, queue in stated.queues.items()
            },
            dict(stated.settings),
        ),
    )


def _check(draft: Draft, path: Path, stated: written.Yunikorn, installed: Release | None) -> None:
    if stated.scheduler_name != _SCHEDULER:
        message = f"YuniKorn serves only schedulerName {_SCHEDULER}, not {stated.scheduler_name}"
        draft.problems.error((*path, "schedulerName"), message, "remove schedulerName")
    if stated.quota_preemption and installed and installed < QUOTA_PREEMPTION:
        message = f"YuniKorn {stated.version} has no quota preemption (added in 1.8)"
        hint = "remove it, or install 1.8 or newer"
        draft.problems.error((*path, "quotaPreemption"), message, hint, key=True)
    named = {"fallback": (stated.fallback, "default"), "namespaceQueues": (stated.namespace_queues, _ROOT)}
    for key, (name, builtin) in named.items():
        if name and name != builtin and name not in draft.names("queues"):
            draft.problems.error(
                (*path, key), f"{name!r} is not a queue of this policy", "name one of `queues`"
            )


def _node_sort(draft: Draft, path: Path, stated: written.NodeSort) -> NodeSort:
    weights: dict[str, float] = {}
    for name, weight in stated.weights.items():
        place = (*path, "weights", name)
        resource = resource_of(draft, place, name)
        if weight < 0:
            draft.problems.error(place, f"weight of {name} is {weight:g}, below 0")
        elif resource:
            weights[CORES if resource == "cpu" else resource] = weight
    return NodeSort(stated.type, weights)


def _rule(rule: written.PlacementRule) -> Rule:
    chosen = rule.filter
    return Rule(
        rule.name,
        rule.value,
        rule.create,
        Filter(chosen.type, chosen.users, chosen.groups) if chosen else Filter(),
        _rule(rule.parent) if rule.parent else None,
    )


def _queue(draft: Draft, path: Path, name: str, stated: written.QueueOptions) -> QueueOptions:
    if name != _ROOT and name not in draft.names("queues"):
        draft.problems.error(
            path, f"{name!r} is not a queue of this policy", "name one of `queues`", key=True
        )
    template, admins = stated.child_template, stated.admins
    return QueueOptions(
        Submitters(admins.users, admins.groups) if admins else None,
        stated.max_applications,
        dict(stated.properties),
        _template(draft, (*path, "childTemplate"), template) if template else ChildTemplate(),
        tuple(
            Limit(
                limit.description,
                limit.users,
                limit.groups,
                from_amounts(amounts(draft, (*path, "limits", number, "max"), limit.max)),
                limit.max_applications,
            )
            for number, limit in enumerate(stated.limits)
        ),
    )


def _template(draft: Draft, path: Path, stated: written.ChildTemplate) -> ChildTemplate:
    guaranteed = from_amounts(amounts(draft, (*path, "guarantee"), stated.guarantee))
    limit = from_amounts(amounts(draft, (*path, "limit"), stated.limit))
    return ChildTemplate(
        stated.max_applications, dict(stated.properties), Resources(guaranteed or None, limit or None)
    )
