"""How the systems differ in their treatment of a tree of queues."""

from __future__ import annotations

from collections.abc import Mapping

from policykit.model.cluster import Cluster
from policykit.model.declared_queues import QueuePlacement
from policykit.model.severity import Severity
from policykit.namedtuple import NamedTuple


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
    """Queues at the top: no pods can be submitted to them, and their amounts limit nothing."""
    built_in: frozenset[str] = frozenset()
    """Queues that exist without being declared."""
    fallback: str = ""
    """The queue, if it exists, of pods that nothing else places."""
    namespaced: bool = False
    """Its queues are known as `namespace/name`; a workload names one of its own namespace."""
    trees: bool = True
    """The release has queues below queues."""
    trees_since: str = ""
    """Where no release is stated: those that have trees, if only some have. What is wrong with a tree is then
    a warning that names them."""
    drops_other_names: bool = False
    """Amounts under names without a domain that Kubernetes does not have are dropped silently."""
    own_validator: bool = False
    """A configuration has a validator of its own: the rules about trees of objects leave it to that."""
    summed: tuple[str, ...] = ()
    """Amounts whose sum over the children of a queue may not exceed that of the queue. A resource that the
    queue does not state counts as 0."""
    excess_limit: Severity = Severity.ERROR
    """Severity if the limit of a queue exceeds its parent's."""
    order: Severity = Severity.ERROR
    """Severity if the guarantee of a queue exceeds its own limit."""
    depth: int | None = None
    """Levels that are allowed below the root; None: any number."""
    same_resources: bool = False
    """The limits of a queue and of its parent must name the same resources."""
    parents_must_be_marked: bool = False
    """A queue with children must declare that it is a parent."""
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
