"""What the policy may say of Apache YuniKorn alone."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from policykit.policy.models.base import Amounts, Model, Target
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
    """Whom a placement rule is for."""

    type: Literal["allow", "deny"] = Field(
        "allow", description="allow: for these alone; deny: for all others."
    )
    users: tuple[str, ...] = Field((), description="User names, or one regular expression.")
    groups: tuple[str, ...] = Field((), description="Group names, or one regular expression.")


class PlacementRule(Model):
    """A placement rule in YuniKorn's words."""

    name: Literal["provided", "user", "tag", "fixed"] = Field(
        "provided", description="Where the queue's name comes from: the pod, its user, a tag, or here."
    )
    value: str = Field("", description="Path of the queue of `fixed`; the tag of `tag`, such as namespace.")
    create: bool = Field(False, description="Makes the queue where it does not exist.")
    filter: RuleFilter | None = Field(None, description="Whom it is for. Default: everybody.")
    parent: PlacementRule | None = Field(None, description="Rule that gives the queue above.")


class Limit(Model):
    """What each of some users, or a group, may use of a queue."""

    description: str = Field("", description="For people.")
    users: tuple[str, ...] = Field(
        (), description="User names; * is everybody who is not named, and comes last."
    )
    groups: tuple[str, ...] = Field((), description="Group names; * comes last.")
    max: Amounts = Field({}, description="The most they may use.")
    max_applications: int = Field(0, ge=0, description="Applications they may run. Default: any number.")


class ChildTemplate(Model):
    """What queues get that placement rules make below a queue."""

    max_applications: int = Field(0, ge=0, description="Applications they may run. Default: any number.")
    guarantee: Amounts = Field({}, description="Guaranteed to each.")
    limit: Amounts = Field({}, description="The most each may use.")
    properties: dict[str, str] = Field({}, description="Properties of each, by YuniKorn's names.")


class QueueOptions(Model):
    """What YuniKorn alone knows of a queue."""

    admins: Submitters | None = Field(None, description="Who may manage it, and submit to it and below.")
    max_applications: int = Field(
        0, ge=0, description="Applications that may run in it. Queues below take the number over."
    )
    properties: dict[str, str] = Field(
        {}, description="Properties by YuniKorn's names: application.sort.policy, preemption.delay, ..."
    )
    child_template: ChildTemplate | None = Field(
        None, description="For queues that placement rules make below it."
    )
    limits: tuple[Limit, ...] = Field((), description="Of users and groups; their order counts.")


class Yunikorn(Target):
    """Apache YuniKorn: scheduler with hierarchical queues, fair sharing and gangs."""

    delivery: Literal["helm-values", "manifest"] = Field(
        "helm-values", description="helm-values: for the chart; manifest: ConfigMap yunikorn-configs."
    )
    scheduler_name: str = Field("yunikorn", description="schedulerName it serves: it answers to no other.")
    policy_group: str = Field(
        "queues", description="Name of the configuration: its key is this with .yaml (service.policyGroup)."
    )
    fallback: str = Field(
        "default",
        description="Queue of pods that no rule places; default is made where the policy has none. "
        "Empty: such pods are rejected.",
    )
    namespace_queues: str = Field(
        "",
        description="Queue, or root, below which every namespace without a tenant gets a queue of its own.",
    )
    placement_rules: tuple[PlacementRule, ...] | None = Field(
        None, description="Rules in place of those made from tenants, namespaceQueues and fallback."
    )
    node_sort: NodeSort | None = Field(
        None, description="How nodes are ordered. Default: from the placements of the workload kinds."
    )
    quota_preemption: bool | None = Field(
        None, description="Takes back what a queue uses above a limit that was lowered; since 1.8."
    )
    queues: dict[str, QueueOptions] = Field(
        {}, description="Queue of this policy, or root, to what YuniKorn alone knows of it."
    )
    settings: dict[str, str] = Field(
        {},
        description="Settings of the ConfigMap, by YuniKorn's names: service.schedulingInterval, log.level.",
    )
