"""How the systems differ in their treatment of a tree of queues."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from policykit.model.cluster import Cluster
from policykit.model.declared_queues import QueuePlacement
from policykit.model.severity import Severity


class QueueSemantics(NamedTuple):
    """How one system treats queues, in the release that a policy states."""

    title: str
    """As people write the system: Volcano."""
    noun: str
    """What it calls a queue."""
    field_names: Mapping[str, str]
    """guarantee, deserved and limit as its objects spell them; what it does not have is left out."""
    resource_names: Mapping[str, str] = {}
    """Its own names of resources, where they differ from those of Kubernetes."""
    roots: frozenset[str] = frozenset()
    """Queues at the top, which nothing can be submitted to, and whose amounts limit nothing."""
    built_in: frozenset[str] = frozenset()
    """Queues that are there without being declared."""
    fallback: str = ""
    """The queue, if it exists, of pods that nothing else places."""
    namespaced: bool = False
    """Its queues are known as `namespace/name`; a workload names one of its own namespace."""
    trees: bool = True
    """The release has queues below queues."""
    drops_other_names: bool = False
    """Amounts under names without a domain that Kubernetes does not have are dropped silently."""
    own_validator: bool = False
    """A configuration has a validator of its own: the rules about trees of objects leave it to that."""
    summed: tuple[str, ...] = ()
    """Amounts of which children may not have more together than their parent; of what it does not state
    it has none."""
    limit_above: Severity = Severity.ERROR
    """Of a limit above the one that the parent has."""
    order: Severity = Severity.ERROR
    """Of a queue that is guaranteed more than it may use."""
    depth: int | None = None
    """Levels below the root."""
    same_resources: bool = False
    """The limits of a queue and of its parent name the same resources."""
    must_hold: bool = False
    """A parent has to say that it holds queues."""
    tree_fault: str = ""
    """Consequence for a queue whose amounts do not fit its parent's."""
    queue_fault: str = ""
    """Consequence for a queue whose own amounts contradict each other."""
    submit_fault: str = ""
    """Consequence for pods in a queue that has child queues."""
    closed_fault: str = ""
    """Consequence for pods in a closed queue."""
    unknown_fault: str = ""
    """Consequence for pods whose queue does not exist."""


class PolicyQueues(NamedTuple):
    """The policy's queues as a system will know them."""

    queues: Mapping[str, str] = {}
    """Name to that of its parent; empty: the root."""
    holding: frozenset[str] = frozenset()
    """Those with children."""
    placing: QueuePlacement | None = None
    """What makes further queues."""
    policy_names: Mapping[str, str] = {}
    """Name to that in the policy; one that is left out is the same."""


def by_name(cluster: Cluster) -> PolicyQueues:
    """For systems that call queues as the policy does."""
    queues = {queue.name: queue.parent for queue in cluster.queues}
    return PolicyQueues(queues, frozenset(queues.values()) & queues.keys())
