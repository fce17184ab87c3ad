"""Options for YuniKorn in a policy."""

from __future__ import annotations

from collections.abc import Mapping

from policykit.model.cluster import TargetSettings
from policykit.model.queue import Submitters
from policykit.namedtuple import NamedTuple
from policykit.targets.yunikorn.configuration.placement_rules import Rule
from policykit.targets.yunikorn.configuration.queues_yaml import ChildTemplate, Limit, NodeSort

FALLBACK = "default"
POLICY_GROUP = "queues"


class QueueOptions(NamedTuple):
    """Options of one queue."""

    admins: Submitters | None = None
    applications: int = 0
    properties: Mapping[str, str] = {}
    template: ChildTemplate = ChildTemplate()
    limits: tuple[Limit, ...] = ()


class YuniKornOptions(NamedTuple):
    """Options of the target. Those that are not set are computed."""

    policy_group: str = POLICY_GROUP
    fallback: str = FALLBACK
    """Queue of the policy, or `default`. Empty: applications that no rule places are rejected."""
    namespace_queues: str = ""
    """Queue, or root, below which namespaces without a tenant get queues."""
    rules: tuple[Rule, ...] | None = None
    node_sort: NodeSort | None = None
    """If it has no weights, they are computed."""
    quota_preemption: bool | None = None
    queues: Mapping[str, QueueOptions] = {}
    """Queue of the policy, or root, to its options."""
    settings: Mapping[str, str] = {}

    def queue_options(self, queue: str) -> QueueOptions:
        return self.queues.get(queue, QueueOptions())


def yunikorn_options(settings: TargetSettings | None) -> YuniKornOptions:
    """The options of a compiled policy."""
    stated = settings.options if settings else None
    return stated if isinstance(stated, YuniKornOptions) else YuniKornOptions()
