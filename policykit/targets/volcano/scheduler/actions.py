"""Which actions each scheduling cycle runs, in what order, and why enqueue is not always one."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import NamedTuple

from policykit.catalogue.volcano.actions import ACTIONS
from policykit.catalogue.volcano.plugins import SHUFFLED
from policykit.errors import PolicykitError
from policykit.model.queue import Preemption
from policykit.targets.volcano.scheduler.config import DEFAULT_ACTIONS
from policykit.targets.volcano.scheduler.options import Stated

PREEMPTING, RECLAIMING = ("preempt", "gangpreempt"), ("reclaim", "gangreclaim")
HELD_BACK = ("preempt", "reclaim")
"""Actions that see only jobs which enqueue has admitted."""


class Chosen(NamedTuple):
    """The actions, with comments for the file and notices for people."""

    names: tuple[str, ...]
    comments: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()


def chosen(preemption: Preemption, stated: Stated) -> Chosen:
    """Actions for what the policy asks for.

    Raises PolicykitError where its `preemption` and its own list of actions disagree.
    """
    if stated.actions is not None:
        _agree(preemption, stated.actions)
        return Chosen(in_order(stated.actions), (), tuple(_lost(stated.actions)))
    names = set(DEFAULT_ACTIONS)
    names |= {"preempt"} if preemption.within_queue else set()
    names |= {"reclaim"} if preemption.reclaim else set()
    names |= {"shuffle"} if any(map(stated.wants, SHUFFLED)) else set()
    held = [name for name in HELD_BACK if name in names]
    if not held:
        return Chosen(in_order(names))
    return Chosen(in_order(names - {"enqueue"}), _without_enqueue(held))


def in_order(names: Collection[str]) -> tuple[str, ...]:
    """Actions in the order a cycle should run them."""
    return tuple(name for name in ACTIONS if name in names)


def _without_enqueue(held: list[str]) -> tuple[str, ...]:
    return (
        f"enqueue is left out: {' and '.join(held)} cannot help jobs it holds back.",
        "So every waiting job has its pods, a cluster autoscaler sees them, and",
        "overcommit and resourcequota, which judge in enqueue, hold back none.",
    )


def _agree(preemption: Preemption, names: Collection[str]) -> None:
    _one("preemption.withinQueue", preemption.within_queue, PREEMPTING, names)
    _one("preemption.reclaim", preemption.reclaim, RECLAIMING, names)


def _one(key: str, wanted: bool | None, able: tuple[str, ...], names: Collection[str]) -> None:
    listed = [name for name in able if name in names]
    if wanted and not listed:
        raise PolicykitError(
            f"{key} is true, but targets.volcano.actions lists neither {' nor '.join(able)}",
            f"add {able[0]} to the actions and take enqueue out, or leave the actions out",
            path=("targets", "volcano", "actions"),
        )
    if wanted is False and listed:
        raise PolicykitError(
            f"{key} is false, but targets.volcano.actions lists {listed[0]}",
            f"take {listed[0]} out of the actions, or leave {key} out",
            path=("targets", "volcano", "actions"),
        )


def _lost(names: Iterable[str]) -> Iterable[str]:
    if "backfill" not in names:
        yield (
            "actions are without backfill, which alone places pods that request nothing: those stay pending "
            "for ever"
        )
