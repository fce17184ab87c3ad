"""Weights of binpack and nodeorder, computed so that packing and preferred usages win.

Every part of the node score lies between 0 and 100, times its weight. So each promise is one
inequality over the worst case, and its weight the smallest integer that keeps it by a point.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from itertools import pairwise

from policykit.model.workload import WorkloadKind
from policykit.namedtuple import NamedTuple

RIVALS: Mapping[str, int] = {"tainttoleration": 3, "imagelocality": 1, "podtopologyspread": 2}
"""Parts of nodeorder that score pods which ask for nothing, with Volcano's own weights. Spread is
among them for the system default constraints of pods that a Service or controller selects."""
SPREADING: Mapping[str, int] = {"leastrequested": 1, "balancedresource": 1}
"""Parts that pull pods apart, with Volcano's own weights: 0 where cards are packed."""
ASKED: Mapping[str, int] = {"podaffinity": 2}
"""Parts that score nothing until a pod states a preference: in no inequality."""

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
"""Plugin nodegroup, which has no weight: 150 points at the most, 1 below 0 at the least."""

CARD_WEIGHT = 10
"""Least default weight of a card in binpack, beside 1 for cpu and 1 for memory."""
LARGEST = 2**31 - 1
"""Largest weight written: any Go int holds it, and float64 sums of scores stay exact to a point."""
_LARGEST_MULTIPLE = 1024


class Step(NamedTuple):
    """One card more in use on one of two alike nodes: what binpack must make of it."""

    resource: str
    cards: int
    """Cards per node: the least common multiple where nodes differ."""
    weight: int
    """Of the card in binpack."""
    fill: int
    """Weights of everything else a pod may ask for: its fill on both nodes may be anything."""

    @property
    def lead(self) -> int:
        """What is left of the step when the other node is full of everything else; at most 0: none."""
        return self.weight - self.cards * self.fill

    @property
    def scale(self) -> int:
        """`lead / scale` is the difference of the two nodes' filled shares, at the least."""
        return self.cards * (self.weight + self.fill)


def common_multiple(sizes: Iterable[int]) -> int:
    """Least common multiple of the cards per node, so that any two filled shares differ by a step.

    The largest size where that grows past 1024: such a mix has no useful common step.
    """
    distinct = sorted(set(sizes))
    multiple = math.lcm(*distinct)
    return multiple if multiple <= _LARGEST_MULTIPLE else distinct[-1]


def card_weight(cards: int, fill: int) -> int:
    """Default weight of a card: half of one card's step is left when cpu and memory are against it."""
    return max(CARD_WEIGHT, 2 * cards * fill)


def packing_weight(step: Step, rivals: int) -> int | None:
    """Smallest binpack.weight with which the fuller node wins by a point.

    `weight * 100 * lead / scale >= 100 * rivals + 1`. None where the card's own weight is too low
    for any.
    """
    if step.lead <= 0:
        return None
    return divided_up((100 * rivals + 1) * step.scale, 100 * step.lead)


def even_packing_weight(step: Step, rivals: int) -> int:
    """The same where both nodes are filled alike with everything else; 1 for a card of weight 0."""
    return divided_up((100 * rivals + 1) * step.scale, 100 * step.weight) if step.weight else 1


def preference_weight(gap: int, rivals: int) -> int:
    """Smallest nodeaffinity.weight with which a preferred node wins by a point, binpack among rivals.

    `weight * gap >= 100 * rivals + 1`, where `gap` is of the scores that the release adds (see
    preference_gap).
    """
    return divided_up(100 * rivals + 1, gap)


def preference_gap(kind: WorkloadKind, *, normalised: bool = True) -> int:
    """Least difference of nodeaffinity scores between two of a kind's usages, 1 to 100.

    Normalised scores are those relative to the highest among the candidate nodes, whichever usages
    those have, cut to integers; others are the weights as written. 100 for a kind with at most one level.
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
