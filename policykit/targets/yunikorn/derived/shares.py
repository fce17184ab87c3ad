"""What a queue is guaranteed and may use at most, as YuniKorn's tree takes it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from policykit.model.pool import Amounts
from policykit.model.queue import Queue
from policykit.targets.yunikorn.configuration import resources
from policykit.targets.yunikorn.configuration.resources import Resources

UNLIMITED = 10**18
"""Added to a max that is all zeros, which YuniKorn would treat as no max."""
_TEXT = "1E"
_BESIDE = ("pods", "ephemeral-storage", "memory", "hugepages-2Mi", "hugepages-1Gi")


class Shares(NamedTuple):
    """Amounts by queue, and what they do not say."""

    resources: Mapping[str, Resources]
    notices: tuple[str, ...] = ()


def shares(queues: Sequence[Queue], *, deserved: bool) -> Shares:
    """Amounts of each queue of a tree; `deserved`: guarantee what is deserved, where that is set."""
    limits, over = _limits(queues)
    found = {
        queue.name: Resources(
            resources.from_amounts({**queue.guarantee, **(queue.deserved if deserved else {})}) or None,
            _maximum(limits[queue.name], _named_above(queue, queues)) or None,
        )
        for queue in queues
    }
    return Shares(found, (*_said_of_deserved(queues, deserved=deserved), *over))


def _maximum(limit: Amounts, above: frozenset[str]) -> dict[str, str]:
    """A limit that YuniKorn takes for one: not all zero. `above`: what limits of queues above name."""
    stated = resources.from_amounts(limit)
    if not limit or any(limit.values()):
        return stated
    beside = next((name for name in _BESIDE if name not in {*limit, *above}), None)
    return {**stated, beside: _TEXT} if beside else stated


def _named_above(queue: Queue, queues: Sequence[Queue]) -> frozenset[str]:
    known = {each.name: each for each in queues}
    found: set[str] = set()
    here = known.get(queue.parent)
    while here is not None:
        found |= here.limit.keys()
        here = known.get(here.parent)
    return frozenset(found)


def as_meant(limit: Amounts) -> dict[str, int]:
    """A limit without the amount added to one that is all zeros."""
    meant = {name: amount for name, amount in limit.items() if amount}
    if len(meant) == 1 and len(limit) > 1 and next(iter(meant.values())) == UNLIMITED:
        return {name: amount for name, amount in limit.items() if not amount}
    return dict(limit)


def _limits(queues: Sequence[Queue]) -> tuple[dict[str, Amounts], list[str]]:
    """No queue may have more than one above it: YuniKorn refuses the file."""
    known = {queue.name: queue for queue in queues}
    found: dict[str, Amounts] = {}
    over: dict[str, None] = {}
    for queue in queues:
        limit = dict(queue.limit)
        above = known.get(queue.parent)
        while above is not None:
            for name in sorted(limit.keys() & above.limit.keys()):
                if limit[name] > above.limit[name]:
                    limit[name] = above.limit[name]
                    over[queue.name] = None
            above = known.get(above.parent)
        found[queue.name] = limit
    if not over:
        return found, []
    return found, [
        f"limit of queue {', '.join(over)} is more than one above it allows, which YuniKorn refuses: the "
        "smaller one is written"
    ]


def _said_of_deserved(queues: Sequence[Queue], *, deserved: bool) -> list[str]:
    named = ", ".join(queue.name for queue in queues if queue.deserved)
    if not named:
        return []
    if deserved:
        free = any(queue.deserved and queue.guarantee for queue in queues)
        return [
            "YuniKorn knows one promise, guaranteed: lent while it is not used, taken back by preemption. Of "
            f"queue {named} it is written from deserved"
            + ("; what guarantee keeps free is not kept" if free else "")
        ]
    return [
        f"deserved of queue {named} is left out: YuniKorn knows one promise, guaranteed, and written as that "
        "it would not fit into the queues above. Nearest: guarantee, which is written"
    ]
