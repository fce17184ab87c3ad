"""Queues, priorities and quotas: who gets how much, who goes first, and who makes room."""

from typing import NamedTuple

from policykit.model.pool import Amounts


class Submitters(NamedTuple):
    """People who may submit; both empty: nobody."""

    users: tuple[str, ...] = ()
    """`*` is everybody."""
    groups: tuple[str, ...] = ()


class PoolAffinity(NamedTuple):
    """Names of pools."""

    required: tuple[str, ...] = ()
    preferred: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()
    avoided: tuple[str, ...] = ()


class Preemption(NamedTuple):
    """Whose pods make room for whose; None: as the scheduler does by itself."""

    within_queue: bool | None = None
    """Pods of higher priority take the place of lower ones in the same queue."""
    reclaim: bool | None = None
    """Queues below their due take it back from queues above theirs."""


class Queue(NamedTuple):
    """A share of the cluster. Amounts left out of a dimension say nothing about it."""

    name: str
    parent: str = ""
    weight: int = 1
    guarantee: Amounts = {}
    deserved: Amounts = {}
    limit: Amounts = {}
    priority: int | None = None
    reclaimable: bool = True
    submit: Submitters | None = None
    """Who may submit to it and below; None: whoever may submit to its parent."""
    pools: PoolAffinity | None = None
    """Pools its pods may and should use; None: any."""


class Priority(NamedTuple):
    """A PriorityClass."""

    name: str
    value: int
    preempts: bool = True
    default: bool = False
    description: str = ""


class ContainerRange(NamedTuple):
    """What a container may and will request in a namespace: cpu, memory and ephemeral-storage."""

    default: Amounts = {}
    """Limits of containers that state none."""
    default_request: Amounts = {}
    minimum: Amounts = {}
    maximum: Amounts = {}


class Quota(NamedTuple):
    """What one namespace may request in all: resource name to amount, limits apart."""

    namespace: str
    name: str
    requests: Amounts = {}
    limits: Amounts = {}
    pods: int | None = None
    priorities: tuple[str, ...] = ()
    """Counts only pods of these PriorityClasses; empty: all."""
    containers: ContainerRange | None = None
    """Defaults and bounds of each container there; None: none."""
