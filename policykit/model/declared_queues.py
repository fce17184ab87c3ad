"""Queues and applications that objects declare, workloads submitted to them, and how systems treat trees.

One vocabulary for Volcano's Queue, YuniKorn's queues.yaml and Koordinator's ElasticQuota. Readers:
`policykit/targets/<name>/queue_facts.py`.
"""

from __future__ import annotations

from collections.abc import Mapping

from policykit.model.cluster import Cluster
from policykit.model.pool import Amounts
from policykit.model.severity import Severity
from policykit.namedtuple import NamedTuple


class MetadataValue(NamedTuple):
    """A value, and the label or annotation that contains it: `label queue`."""

    key: str
    value: str


class Application(NamedTuple):
    """The application of the pods of one template; the first of several values counts."""

    namespace: str
    ids: tuple[MetadataValue, ...]
    queues: tuple[MetadataValue, ...] = ()
    user: str = ""
    """User and groups as one comparable text."""
    task_groups: str = ""
    """The gang's task groups as one comparable text."""
    template: str = ""
    """Template within the object."""
    misspelt: str = ""
    """A label that is nearly the one of the application, where none is; its location is `misspelt`."""


class NamespaceMetadata(NamedTuple):
    """Annotations of a namespace that a scheduler reads."""

    namespace: str
    annotations: tuple[tuple[str, str], ...]


class Route(NamedTuple):
    """How a placement rule finds a queue for a namespace."""

    create: bool
    steps: tuple[str, ...]
    """Names from the root; NAMESPACE and PARENT are replaced by values of the namespace."""


NAMESPACE = "{namespace}"
PARENT = "{parentqueue}"


class StaticQueues(NamedTuple):
    """The leaf queues of a configuration, and its placement rules by namespace."""

    leaves: tuple[str, ...]
    """Full paths in lower case."""
    routes: tuple[Route, ...]


class DeclaredQueue(NamedTuple):
    """A queue or quota. Resources without an amount are unconstrained.

    Locations of its fact: `name`; of what is written `parent`, `path`, `tree_id`, `namespaces`, `guarantee`,
    `deserved`, `limit`, and for each amount `guarantee.<resource>`, and so on.
    """

    target_name: str
    """Target that reads it: volcano, yunikorn, koordinator."""
    name: str
    """As pods and other queues name it; in YuniKorn its full path in lower case."""
    parent: str = ""
    """Name of its parent; empty: the system's root."""
    guarantee: Amounts = {}
    """Guaranteed: guarantee.resource, guaranteed, min."""
    deserved: Amounts = {}
    """Deserved amounts, lent while unused; only Volcano separates them from the guarantee."""
    limit: Amounts = {}
    """Maximum: capability, max, max."""
    namespace: str = ""
    """Namespace of the object; pods refer to the queue without it."""
    tree: str = ""
    """Its tree: a configuration at one location. Empty: objects of the cluster."""
    path: str = ""
    """Its path in Volcano's hierarchy annotations; empty: none."""
    tree_id: str = ""
    """Id of its tree of objects (Koordinator)."""
    namespaces: tuple[str, ...] = ()
    """Their pods count against it if they name no queue (Koordinator)."""
    holds_queues: bool = False
    """It is declared to contain queues, not workloads."""
    closed: bool = False
    """It does not accept new workloads."""
    unchecked: bool = False
    """It disables the check of its amounts against its parent's."""
    measured: bool = True
    """Its amounts are known; otherwise a controller sets them, or they cannot be parsed."""
    serves: frozenset[str] = frozenset()
    """The only resources that its pods may request; empty: any."""
    confined: bool = False
    """Its pods stay on node groups that it names."""
    noun: str = ""
    """What its system calls it; empty: as it calls all its queues."""


class QueueUse(NamedTuple):
    """What submits pods to a queue: an object, one of its pod sets, or a PodGroup.

    Locations of its fact: `queue`.
    """

    target_name: str
    namespace: str
    queue: str
    """Name of the queue as written."""
    scheduler: str = ""
    """schedulerName of the pods; empty: none written."""
    group: str = ""
    """PodGroup whose members go to the queue; empty: not a PodGroup."""
    gang: int | None = None
    """Pods that start together or not at all; None: no gang, or its size is unknown."""
    request: Amounts = {}
    """Least total request of these pods; without a gang the least request of one pod."""
    whole: bool = False
    """The gang is all pods of the object: its system admits them at once."""


class QueuePartition(NamedTuple):
    """A queue, the pods in one, or a scheduler, and the part of the cluster that it is of (KAI-Scheduler).

    Locations of its fact: `partition`.
    """

    kind: str
    """queue, pods or scheduler."""
    queue: str = ""
    """Name of the queue; empty for a scheduler."""
    partition: str = ""
    """Value of the label; empty: what has none."""
    parent: str = ""
    """Name of the queue above."""


class QueuePlacement(NamedTuple):
    """How a configuration derives a queue from the name in a pod (YuniKorn's placement rules).

    Locations of its fact: `rules`.
    """

    target_name: str
    tree: str
    honours_pod_queue: bool = True
    """A rule uses the queue that the pod names."""
    reads_as_parent: bool = False
    """A rule puts pods below the queue that they name."""
    creates_queues: bool = False
    """Such a rule creates the queue if it does not exist."""
    default_parent: str | None = "root"
    """Parent of queue names without root; None: it depends on the pod."""
    has_other_rules: bool = False
    """Other rules apply to pods whose queue does not exist."""


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
    top_fault: str = ""
    """Consequence for pods in a queue without a parent, with the releases; empty: none."""
    root_has_nodes: str = ""
    """Releases in which the limit of the root of a tree is what the nodes have; empty: none."""
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
