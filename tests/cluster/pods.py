"""What a scheduler did with pods."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from tests.cluster.api_server import PODS, ApiServer

_DECIDED = 120
"""Seconds in which pods are bound or refused."""
_TRIES = 30
"""Seconds in which the scheduler has tried a pod again."""


class Outcome(NamedTuple):
    """A node, or the scheduler's words."""

    node: str
    message: str


Words = Callable[[], Mapping[str, str]]
"""Why each pod is not on the node that has its name, by pod, in the words of the scheduler's log."""


def outcomes(server: ApiServer, names: Mapping[str, bool], words: Words | None = None) -> dict[str, Outcome]:
    """Outcomes of pods, by name, each with whether it is expected to be bound.

    A pod may be refused at first because the scheduler has not yet heard of a node, or of the end of
    another pod: one that is expected to be bound gets time for another try. Without `words` a message is
    that of the pod's condition.
    """
    begun = time.monotonic()
    while True:
        found = {pod["metadata"]["name"]: _outcome(pod) for pod in server.items(PODS)}
        waited = time.monotonic() - begun
        unbound = [name for name, bound in names.items() if bound and not found[name].node]
        undecided = [name for name in names if not any(found[name])]
        if not undecided and (not unbound or waited > _TRIES):
            said = words() if words else {}
            return {name: one._replace(message=said.get(name, one.message)) for name, one in found.items()}
        assert waited < _DECIDED, undecided[:5]
        time.sleep(0.5)


def _outcome(pod: Mapping[str, Any]) -> Outcome:
    conditions = pod["status"].get("conditions", [])
    said = next((one.get("message", "") for one in conditions if one["type"] == "PodScheduled"), "")
    return Outcome(pod["spec"].get("nodeName", ""), said)
