"""Weights of binpack and nodeorder, computed so that packing and preferred usages win.

Every part of the node score is 0 to 100, times its weight. Each guarantee is therefore an inequality for
the worst case, and the weight is the smallest integer that satisfies it by a point.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from itertools import pairwise

from policykit.model.workload import WorkloadKind
from policykit.namedtuple import NamedTuple

RIVALS: Mapping[str, int] = {"tainttoleration": 3, "imagelocality": 1, "podtopologyspread": 2}
"""Parts of nodeorder that score every pod, with Volcano's default weights. Spread is among them for the
system default constraints of pods that a Service or controller selects."""
SPREADING: Mapping[str, int] = {"leastrequested": 1, "balancedresource": 1}
"""Parts that spread pods, with Volcano's default weights: 0 if cards are packed."""
ON_REQUEST: Mapping[str, int] = {"podaffinity": 2}
"""Parts that score only pods with a preference of their own: in no inequality."""

OPTIONAL: Mapping[str, tuple[str, int]] = {
    "usage": ("usage.weight", 5),
    "numa-aware": ("weight", 1),
    "task-topology": ("task-topology.weight", 1),
    "tdm": ("", 1),
    "resource-strategy-fit": ("resourceStrategyFitWeight", 10),
    "network-topology-aware": ("weight", 1),
}
"""Score plugins that only options add: argument of the weight, and its default."""
NODE_GROUPS = 2
"""Plugin nodegroup, which has no weight: at most 150 points, at least -1."""

CARD_WEIGHT = 10
"""Least default weight of a card in binpack, beside 1 for cpu and 1 for memory."""
LARGEST = 2**31 - 1
"""Largest weight written: it fits into any Go int, and float64 sums of scores stay exact to a point."""
_LARGEST_MULTIPLE = 1024


class Step(NamedTuple):
    """One card more in use on one of two equal nodes, and what else binpack scores."""

    resource: str
    cards: int
    """Cards per node, or the least common multiple if nodes differ."""
    weight: int
    """Weight of the card in binpack."""
    fill: int
    """Weights of everything else that a pod may request, whose use on both nodes may be anything."""

    @property
    def lead(self) -> int:
        """What remains of the step if the other node is full of everything else; 0 or less: nothing."""
        return self.weight - self.cards * self.fill

    @property
    def scale(self) -> int:
        """`lead / scale` is the least difference of the two nodes' utilizations."""
        return self.cards * (self.weight + self.fill)


def common_multiple(sizes: Iterable[int]) -> int:
    """Least common multiple of the cards per node, so that any two utilizations differ by a step.

    The largest size if that exceeds 1024: such a mix has no useful common step.
    """
    distinct = sorted(set(sizes))
    multiple = math.lcm(*distinct)
    return multiple if multiple <= _LARGEST_MULTIPLE else distinct[-1]


def card_weight(cards: int, fill: int) -> int:
    """Default weight of a card: half of a card's step remains if cpu and memory count against it."""
    return max(CARD_WEIGHT, 2 * cards * fill)


def packing_weight(step: Step, rivals: int) -> int | None:
    """Smallest binpack.weight with which the fuller node wins by a point.

    `weight * 100 * lead / scale >= 100 * rivals + 1`. None: the
    card's own weight is too low.
    """
    if step.lead <= 0:
        return None
    return divided_up((100 * rivals + 1) * step.scale, 100 * step.lead)


def even_packing_weight(step: Step, rivals: int) -> int:
    """The same if the use of everything else is equal on both nodes; 1 for a card with weight 0."""
    return divided_up((100 * rivals + 1) * step.scale, 100 * step.weight) if step.weight else 1


def preference_weight(gap: int, rivals: int) -> int:
    """Smallest nodeaffinity.weight with which a preferred node wins by a point, binpack among rivals.

    `weight * gap >= 100 * rivals + 1`, with `gap` in the scores of the release (see preference_gap).
    """
    return divided_up(100 * rivals + 1, gap)


def preference_gap(kind: WorkloadKind, *, normalised: bool = True) -> int:
    """Least difference of nodeaffinity scores between two of a kind's usages, 1 to 100.

    Normalised scores are those relative to the highest among the candidate nodes, whichever usages
    those have, truncated; others are the weights as written. 100 for a kind with at most one level.
    """
    levels = {kind.prefer.get(usage, 0) for usage in kind.usages} | set(kind.prefer.values())
    if not kind.usages:
        levels.add(0)
    ordered = sorted(levels)
    if not normalised:
        return min((upper - lower for lower, upper in pairwise(ordered)), default=100)
    gaps = [
        100 * upper // highest - 100 * lower // highest
        for position, highest in enumerate(ordered)
        for lower, upper in pairwise(ordered[: position + 1])
    ]
    return min(gaps, default=100)


def divided_up(number: int, by: int) -> int:
    """Quotient, rounded up."""
    return -(-number // by)
