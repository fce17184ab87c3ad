"""Options for Apache YuniKorn."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from policykit.policy.models.base import Amounts, Model, TargetOptions
from policykit.policy.models.queue import Submitters


class NodeSort(Model):
    """How nodes that fit are ordered."""

    type: Literal["binpacking", "fair"] = Field(
        "binpacking", description="binpacking fills nodes, fair spreads pods over them."
    )
    weights: dict[str, float] = Field(
        {},
        description="Resource name, or a card of this policy, to its weight, 0 or more. "
        "Default: chosen from the cards.",
    )


class RuleFilter(Model):
    """Users and groups that a placement rule applies to."""

    type: Literal["allow", "deny"] = Field(
        "allow", description="allow: only these; deny: everyone but these."
    )
    users: tuple[str, ...] = Field((), description="User names, or one regular expression.")
    groups: tuple[str, ...] = Field((), description="Group names, or one regular expression.")


class PlacementRule(Model):
    """A placement rule, with YuniKorn's names."""

    name: Literal["provided", "user", "tag", "fixed"] = Field(
        "provided", description="Where the queue's name comes from: the pod, its user, a tag, or here."
    )
    value: str = Field("", description="Path of the queue of `fixed`; the tag of `tag`, such as namespace.")
    create: bool = Field(False, description="Creates the queue if it does not exist.")
    filter: RuleFilter | None = Field(None, description="Users and groups it applies to. Default: everybody.")
    parent: PlacementRule | None = Field(None, description="Rule for the parent queue.")


class Limit(Model):
    """A limit for each of some users, or for groups, in a queue."""

    description: str = Field("", description="Free text.")
    users: tuple[str, ...] = Field(
        (), description="User names; * stands for everybody not named and comes last."
    )
    groups: tuple[str, ...] = Field((), description="Group names; * comes last.")
    max: Amounts = Field({}, description="Maximum they may use.")
    max_applications: int = Field(0, ge=0, description="Applications they may run. Default: any number.")


class ChildTemplate(Model):
    """Template for queues that placement rules create below a queue."""

    max_applications: int = Field(0, ge=0, description="Applications they may run. Default: any number.")
    guarantee: Amounts = Field({}, description="Guaranteed to each.")
    limit: Amounts = Field({}, description="Maximum each may use.")
    properties: dict[str, str] = Field({}, description="Properties of each, by YuniKorn's names.")


class QueueOptions(Model):
    """Options of a queue that only YuniKorn has."""

    admins: Submitters | None = Field(
        None, description="Who may manage it, and submit to it and its child queues."
    )
    max_applications: int = Field(
        0, ge=0, description="Applications that may run in it; inherited by its child queues."
    )
    properties: dict[str, str] = Field(
        {}, description="Properties by YuniKorn's names: application.sort.policy, preemption.delay, ..."
    )
    child_template: ChildTemplate | None = Field(
        None, description="For queues that placement rules create below it."
    )
    limits: tuple[Limit, ...] = Field((), description="Limits of users and groups, in order.")


class Yunikorn(TargetOptions):
    """Apache YuniKorn: scheduler with hierarchical queues, fair sharing and gangs."""

    delivery: Literal["helm-values", "manifest"] = Field(
        "helm-values", description="helm-values: for the chart; manifest: ConfigMap yunikorn-configs."
    )
    scheduler_name: str = Field("yunikorn", description="schedulerName it serves; YuniKorn serves no other.")
    policy_group: str = Field(
        "queues",
        description="Name of the configuration; its key in the ConfigMap is this name with .yaml "
        "(service.policyGroup).",
    )
    fallback: str = Field(
        "default",
        description="Queue for pods that no rule places; `default` is created if the policy does not "
        "define it. Empty: such pods are rejected.",
    )
    namespace_queues: str = Field(
        "",
        description="Queue, or root, below which each namespace without a tenant gets its own queue.",
    )
    placement_rules: tuple[PlacementRule, ...] | None = Field(
        None, description="Rules that replace those derived from tenants, namespaceQueues and fallback."
    )
    node_sort: NodeSort | None = Field(
        None, description="How nodes are ordered. Default: from the placements of the workload kinds."
    )
    quota_preemption: bool | None = Field(
        None, description="Preempts pods of a queue whose usage exceeds a lowered limit. From 1.8."
    )
    queues: dict[str, QueueOptions] = Field(
        {}, description="Queue of this policy, or root, to the options that only YuniKorn has."
    )
    settings: dict[str, str] = Field(
        {},
        description="Settings of the ConfigMap, by YuniKorn's names: service.schedulingInterval, log.level.",
    )
