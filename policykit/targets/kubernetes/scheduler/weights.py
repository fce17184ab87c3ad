"""Weights computed from kube-scheduler's own integer arithmetic, so that cards decide.

A node's total is the sum of every plugin's score, 0 to 100, times its weight. Each guarantee is therefore an
inequality for the worst case, and the weight is the smallest integer that satisfies it by a point.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

from policykit.kube.scores import least, most, ratio
from policykit.model.workload import Point
from policykit.targets.kubernetes.scheduler.configuration import RATIO

CARD_WEIGHT = 100
"""Default weight of a card in the strategy beside 1 for cpu and memory: the largest that is valid."""

_Shape = Sequence[tuple[int, int]]


def lead(strategy: str, shape: Sequence[Point], cards: int, weight: int, fill: int) -> int:
    """Least number of points by which NodeResourcesFit favours the better of two nodes with `cards` cards.

    The better node is the one whose cards alone score higher with the pod on it. `fill` is the weight of
    everything else in the strategy, which may score best on the worse node and worst on the better one.
    At most 0: the others can outweigh a card. A single card per node leaves nothing to compare: 100.
    """
    found = _card_scores(strategy, shape, cards)
    if strategy == RATIO:
        low, high = _bounds(shape)
        ends = [
            (_ratio_mean(s, weight, low, fill), _ratio_mean(s, weight, high, fill, best=True)) for s in found
        ]
    else:
        total = weight + fill
        ends = [(weight * s // total, (weight * s + 100 * fill) // total) for s in found]
    return min((better[0] - worse[1] for worse, better in pairwise(ends)), default=100)


def _card_scores(strategy: str, shape: Sequence[Point], cards: int) -> list[int]:
    """Scores of the cards alone with 1 to all of them in use, ascending.

    A flat section of a shape is intended and counts once; if a sloping one gives two numbers of cards the
    same score, they cannot be distinguished.
    """
    if strategy == RATIO:
        return sorted({ratio(used, cards, shape) for used in range(1, cards + 1)})
    of = most if strategy == "MostAllocated" else least
    return sorted(of(used, cards) for used in range(1, cards + 1))


def _bounds(shape: _Shape) -> tuple[int, int]:
    """Lowest score above 0, and highest score, of a resource."""
    scores = [points for used in range(101) if (points := ratio(used, 100, shape))]
    return min(scores, default=0), max(scores, default=0)


def _ratio_mean(score: int, weight: int, other: int, fill: int, *, best: bool = False) -> int:
    """Mean of a card's score and the others', as RequestedToCapacityRatio computes it.

    A score of 0 drops out of the sum and its weight: if a card scores 0, the others alone decide.
    """
    if not score:
        return other if best and fill else 0
    if fill and (other > score if best else 0 < other < score):
        total = weight + fill
        return (2 * (weight * score + fill * other) + total) // (2 * total)
    return score


def fit_weight(leads: Iterable[int], rivals: int) -> int:
    """Smallest weight of NodeResourcesFit with which the better node wins by a point.

    `rivals`: points the other plugins may give the other node. Leads of 0 or less are ignored; without any
    other, a difference of one point of the strategy's score decides: scores are whole numbers.
    """
    return max((_divided_up(rivals + 1, each) for each in leads if each > 0), default=rivals + 1)


def affinity_weight(gap: int, fit: int, rivals: int) -> int:
    """Smallest weight of NodeAffinity with which a preferred node wins by a point over any fill."""
    return _divided_up(100 * fit + rivals + 1, gap)


def _divided_up(number: int, by: int) -> int:
    return -(-number // by)
