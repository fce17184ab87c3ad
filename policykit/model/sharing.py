"""Queues as objects and configurations declare them, and the workloads submitted to them.

One vocabulary over Volcano's Queue, YuniKorn's queues.yaml and Koordinator's ElasticQuota. Readers:
`policykit/targets/<system>/sharing.py`.
"""

from __future__ import annotations

from typing import NamedTuple

from policykit.model.pool import Amounts


class DeclaredQueue(NamedTuple):
    """A queue or quota. Amounts left out of a dimension say nothing about it.

    Places of its fact: `name`; of what is written `parent`, `path`, `tree_id`, `namespaces`, `guarantee`,
    `deserved`, `limit`, and for each amount `guarantee.<resource>`, and so on.
    """

    system: str
    """Target that reads it: volcano, yunikorn, koordinator."""
    name: str
    """As pods and other queues name it; in YuniKorn its whole path in small letters."""
    parent: str = ""
    """Name of the queue it stands below; empty: none but the system's own root."""
    guarantee: Amounts = {}
    """Kept for it: guarantee.resource, guaranteed, min."""
    deserved: Amounts = {}
    """Its due, lent while unused; only Volcano tells it from the guarantee."""
    limit: Amounts = {}
    """At most this: capability, max, max."""
    namespace: str = ""
    """Where the object stands; pods name the queue without it."""
    tree: str = ""
    """Which tree it belongs to: one configuration in one place. Empty: objects of the cluster."""
    path: str = ""
    """Where it stands in a second tree, that of Volcano's hierarchy annotations; empty: nowhere."""
    tree_id: str = ""
    """Which of several trees of objects it says it is in (Koordinator)."""
    namespaces: tuple[str, ...] = ()
    """Their pods are charged to it where they name no queue (Koordinator)."""
    holds_queues: bool = False
    """It says itself that queues stand below it, not workloads."""
    closed: bool = False
    """It takes nothing new."""
    unchecked: bool = False
    """It says that its amounts are not to be held against its parent's."""
    measured: bool = True
    """Its amounts are as written; otherwise a controller fills them in, or they cannot be read."""
    confined: bool = False
    """Its pods stay on groups of nodes that it names."""


class QueueUse(NamedTuple):
    """What submits pods to a queue: an object, one of its pod sets, or a PodGroup.

    Places of its fact: `queue`.
    """

    system: str
    namespace: str
    queue: str
    """Name of the queue as written."""
    scheduler: str = ""
    """schedulerName of the pods; empty: none written."""
    group: str = ""
    """PodGroup whose members go to the queue; empty: it is no PodGroup."""
    gang: int | None = None
    """Pods that start together or not at all; None: no gang, or its size is not known."""
    request: Amounts = {}
    """The least that these pods ask for together; of no gang what one of the pods asks for at least."""


class Placing(NamedTuple):
    """How a configuration makes a queue of the name that a pod gives (YuniKorn's placement rules).

    Places of its fact: `rules`.
    """

    system: str
    tree: str
    reads_names: bool = True
    """Some rule takes the queue that the pod names."""
    makes: bool = False
    """A rule that takes it makes the queue where there is none."""
    below: str = "root"
    """Queue that names without root stand below; `?`: it depends on the pod."""
    otherwise: bool = False
    """Other rules place a pod whose queue is not there."""
