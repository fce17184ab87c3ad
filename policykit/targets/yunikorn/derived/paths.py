"""Paths of the policy's queues in YuniKorn's tree: `root.research.team-a`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from policykit.errors import PolicykitError
from policykit.model.queue import Queue
from policykit.targets.yunikorn.configuration.queues import ROOT

DEFAULT = "default"


def own_name(name: str) -> str:
    """A queue's name within the one above it: what follows the last dot, since dots divide paths."""
    return name.rpartition(".")[2]


def paths(queues: Iterable[Queue]) -> dict[str, str]:
    """Queue of the policy to its whole path. A parent that is not among them counts as the root."""
    known = {queue.name: queue for queue in queues}
    return {name: ".".join((ROOT, *_steps(queue, known))) for name, queue in known.items()}


def _steps(queue: Queue, known: Mapping[str, Queue]) -> tuple[str, ...]:
    steps: list[str] = []
    seen: set[str] = set()
    here: Queue | None = queue
    while here is not None and here.name not in seen:
        seen.add(here.name)
        steps.append(own_name(here.name))
        here = known.get(here.parent)
    return tuple(reversed(steps))


def checked(queues: Iterable[Queue]) -> dict[str, str]:
    """The paths, which must differ. Raises PolicykitError for two queues in one place, and for `root`."""
    found = paths(queues)
    places: dict[str, str] = {}
    for name, path in found.items():
        if own_name(name) == ROOT:
            raise PolicykitError(
                f"queue {name} is named root, which YuniKorn creates itself",
                "rename the queue",
                path=("queues", name),
            )
        if path in places:
            raise PolicykitError(
                f"queues {places[path]} and {name} are both {path} in YuniKorn, where dots separate names",
                "rename one of them after the last dot",
                path=("queues", name),
            )
        places[path] = name
    return found
