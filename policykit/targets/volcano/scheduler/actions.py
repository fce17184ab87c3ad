"""Which actions each scheduling cycle runs, in what order, and why enqueue is not always one."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from policykit.catalogue.volcano.actions import ACTIONS
from policykit.catalogue.volcano.configuration import DEFAULT_ACTIONS
from policykit.catalogue.volcano.plugins import SHUFFLED
from policykit.catalogue.volcano.validator import HELD_BACK, PREEMPTING, RECLAIMING
from policykit.errors import PolicykitError
from policykit.model.queue import Preemption
from policykit.targets.volcano.options import VolcanoOptions


class Actions(NamedTuple):
    """The actions of a cycle, with comments for the file."""

    names: tuple[str, ...]
    comments: tuple[str, ...] = ()


def select_actions(preemption: Preemption, options: VolcanoOptions) -> Actions:
    """Actions for what the policy asks for.

    Raises PolicykitError where its `preemption` and its own list of actions disagree.
    """
    if options.actions is not None:
        _check_preemption(preemption, options.actions)
        return Actions(in_order(options.actions))
    names = set(DEFAULT_ACTIONS)
    names |= {"preempt"} if preemption.within_queue else set()
    names |= {"reclaim"} if preemption.reclaim else set()
    names |= {"shuffle"} if any(map(options.enables, SHUFFLED)) else set()
    held = [name for name in HELD_BACK if name in names]
    if not held:
        return Actions(in_order(names))
    return Actions(in_order(names - {"enqueue"}), _without_enqueue(held))


def in_order(names: Collection[str]) -> tuple[str, ...]:
    """Actions in the order a cycle should run them."""
    return tuple(name for name in ACTIONS if name in names)


def _without_enqueue(held: list[str]) -> tuple[str, ...]:
    return (
        f"enqueue is left out: {' and '.join(held)} cannot help jobs it does not admit.",
        "So every waiting job has its pods, a cluster autoscaler sees them, and",
        "overcommit and resourcequota, which act in enqueue, hold back none.",
    )


def _check_preemption(preemption: Preemption, names: Collection[str]) -> None:
    _check("preemption.withinQueue", preemption.within_queue, PREEMPTING, names)
    _check("preemption.reclaim", preemption.reclaim, RECLAIMING, names)


def _check(key: str, wanted: bool | None, able: tuple[str, ...], names: Collection[str]) -> None:
    listed = [name for name in able if name in names]
    if wanted and not listed:
        raise PolicykitError(
            f"{key} is true, but targets.volcano.actions lists neither {' nor '.join(able)}",
            f"add {able[0]} to the actions and remove enqueue, or leave the actions out",
            path=("targets", "volcano", "actions"),
        )
    if wanted is False and listed:
        raise PolicykitError(
            f"{key} is false, but targets.volcano.actions lists {listed[0]}",
            f"remove {listed[0]} from the actions, or leave {key} out",
            path=("targets", "volcano", "actions"),
        )
