"""Options of the policy for YuniKorn, as the policy models give them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from policykit.model.cluster import TargetSettings
from policykit.model.pool import Amounts
from policykit.model.queue import Submitters
from policykit.targets.yunikorn.configuration import resources
from policykit.targets.yunikorn.configuration.limits import Limit
from policykit.targets.yunikorn.configuration.partition import NodeSort
from policykit.targets.yunikorn.configuration.placement_rules import Filter, Rule
from policykit.targets.yunikorn.configuration.queues import ChildTemplate
from policykit.targets.yunikorn.configuration.resources import Resources

FALLBACK = "default"
POLICY_GROUP = "queues"


class QueueOptions(NamedTuple):
    """Options of one queue."""

    admins: Submitters | None = None
    applications: int = 0
    properties: Mapping[str, str] = {}
    template: ChildTemplate = ChildTemplate()
    limits: tuple[Limit, ...] = ()


class Options(NamedTuple):
    """Options of the target; what is not set is computed."""

    policy_group: str = POLICY_GROUP
    fallback: str = FALLBACK
    """Queue of the policy, or `default`; empty: what no rule places is rejected."""
    namespace_queues: str = ""
    """Queue, or root, below which namespaces without a tenant get queues."""
    rules: tuple[Rule, ...] | None = None
    node_sort: NodeSort | None = None
    """Without weights: they are chosen."""
    quota_preemption: bool | None = None
    queues: Mapping[str, QueueOptions] = {}
    """Queue of the policy, or root, to its options."""
    settings: Mapping[str, str] = {}

    def of(self, queue: str) -> QueueOptions:
        return self.queues.get(queue, QueueOptions())


def read(target: TargetSettings) -> Options:
    """`TargetSettings.options` of YuniKorn."""
    given = target.options
    rules, sort = given.get("placement_rules"), given.get("node_sort")
    return Options(
        given.get("policy_group", POLICY_GROUP),
        given.get("fallback", FALLBACK),
        given.get("namespace_queues", ""),
        None if rules is None else tuple(map(_rule, rules)),
        NodeSort(sort["type"], {_named(name): w for name, w in sort["weights"].items()}) if sort else None,
        given.get("quota_preemption"),
        {name: _queue(stated) for name, stated in given.get("queues", {}).items()},
        given.get("settings", {}),
    )


def _named(resource: str) -> str:
    return resources.CORES if resource == "cpu" else resource


def _rule(given: Mapping[str, Any]) -> Rule:
    chosen, parent = given["filter"], given["parent"]
    return Rule(
        given["name"],
        given["value"],
        given["create"],
        Filter(chosen["type"], tuple(chosen["users"]), tuple(chosen["groups"])) if chosen else Filter(),
        _rule(parent) if parent else None,
    )


def _queue(given: Mapping[str, Any]) -> QueueOptions:
    admins, template = given.get("admins"), given.get("child_template")
    return QueueOptions(
        Submitters(tuple(admins["users"]), tuple(admins["groups"])) if admins else None,
        given.get("max_applications", 0),
        given.get("properties", {}),
        _template(template) if template else ChildTemplate(),
        tuple(map(_limit, given.get("limits", ()))),
    )


def _template(given: Mapping[str, Any]) -> ChildTemplate:
    stated = Resources(_amounts(given["guarantee"]), _amounts(given["limit"]))
    return ChildTemplate(given["max_applications"], given["properties"], stated)


def _amounts(given: Amounts) -> dict[str, str] | None:
    return resources.from_amounts(given) or None


def _limit(given: Mapping[str, Any]) -> Limit:
    return Limit(
        given["description"],
        tuple(given["users"]),
        tuple(given["groups"]),
        resources.from_amounts(given["max"]),
        given["max_applications"],
    )
