"""Queues declared by objects and configurations, and the workloads submitted to them.

One vocabulary for Volcano's Queue, YuniKorn's queues.yaml and Koordinator's ElasticQuota. Readers:
`policykit/targets/<name>/queue_facts.py`.
"""

from __future__ import annotations

from policykit.model.pool import Amounts
from policykit.namedtuple import NamedTuple


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


class QueuePlacement(NamedTuple):
    """How a configuration derives a queue from the name in a pod (YuniKorn's placement rules).

    Locations of its fact: `rules`.
    """

    target_name: str
    tree: str
    honours_pod_queue: bool = True
    """A rule uses the queue that the pod names."""
    creates_queues: bool = False
    """Such a rule creates the queue if it does not exist."""
    default_parent: str | None = "root"
    """Parent of queue names without root; None: it depends on the pod."""
    has_other_rules: bool = False
    """Other rules apply to pods whose queue does not exist."""
