"""Runtimes of Kubeflow Trainer and what TrainJobs make of their resources."""

from __future__ import annotations

from policykit.namedtuple import NamedTuple


class RuntimeCards(NamedTuple):
    """The cards that each node of a runtime asks for."""

    runtime: str
    """Kind and name."""
    cards: tuple[tuple[str, int], ...] = ()
    """Resources and amounts."""


class NodeResources(NamedTuple):
    """What a TrainJob asks for a node, instead of its runtime. Locations of its fact: `resources`."""

    runtime: str
    """Kind and name."""
    names: tuple[str, ...] = ()
