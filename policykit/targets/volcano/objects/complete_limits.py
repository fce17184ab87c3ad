"""Limits for releases whose webhook takes a resource missing in a queue's limit as 0 (1.13.0 to 1.14.1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from policykit.model.queue import Queue
from policykit.targets.release import Version
from policykit.targets.volcano import versions

_PARENTS = Version(1, 14, 0)
"""Since then a parent's limit must have every resource that a child's has."""


def complete_limits(queues: Sequence[Queue], version: Version) -> tuple[tuple[Queue, ...], tuple[str, ...]]:
    """The queues, parents first, with the resources that such a webhook requires in their limits.

    An added limit is as large as it may be: the sum of the children's limits, at least what is
    deserved, and no more than the nearest limit above.
    """
    first, last = versions.WHOLE_LISTS
    if not first <= version <= last:
        return tuple(queues), ()
    stated = {queue.name: queue for queue in queues}
    below: dict[str, list[Queue]] = {}
    done: list[Queue] = []
    notices: list[str] = []
    for queue in reversed(queues):
        missing = _missing(queue, below.get(queue.name, []), whole=version >= _PARENTS)
        if missing:
            notices.append(_notice(queue, missing, version))
        limit = {name: min(amount, _above(queue, name, stated)) for name, amount in missing.items()}
        full = queue._replace(limit={**queue.limit, **{name: int(amount) for name, amount in limit.items()}})
        below.setdefault(queue.parent, []).append(full)
        done.append(full)
    return tuple(done[::-1]), tuple(notices[::-1])


def _missing(queue: Queue, children: Sequence[Queue], *, whole: bool) -> dict[str, int]:
    """What the queue's limit lacks; `whole`: every resource of the children's limits too."""
    below: dict[str, int] = {}
    for child in children:
        for name, amount in child.limit.items():
            below[name] = below.get(name, 0) + amount
    if not queue.limit and not (whole and below):
        return {}
    names = {**queue.deserved, **(below if whole else {})}
    missing = {name: max(below.get(name, 0), queue.deserved.get(name, 0)) for name in names}
    return {name: amount for name, amount in missing.items() if name not in queue.limit}


def _above(queue: Queue, resource: str, stated: Mapping[str, Queue]) -> float:
    above = stated.get(queue.parent)
    while above is not None:
        if resource in above.limit:
            return above.limit[resource]
        above = stated.get(above.parent)
    return float("inf")


def _notice(queue: Queue, missing: Mapping[str, int], version: Version) -> str:
    return (
        f"queue {queue.name}: Volcano {version} takes a resource missing in a limit as 0, so a limit on "
        f"{', '.join(sorted(missing))} is added: what is deserved, or what the queues below may use. Set "
        "it, or use 1.14.2 or newer"
    )
