"""Queues, priorities and quotas: who gets how much, and who goes first."""

from typing import NamedTuple

from policykit.model.pool import Amounts


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


class Priority(NamedTuple):
    """A PriorityClass."""

    name: str
    value: int
    preempts: bool = True
    default: bool = False
    description: str = ""


class Quota(NamedTuple):
    """What one namespace may request in all: resource name to amount, limits apart."""

    namespace: str
    name: str
    requests: Amounts = {}
    limits: Amounts = {}
    pods: int | None = None
