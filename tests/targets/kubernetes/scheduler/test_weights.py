"""Weights against brute force over kube-scheduler's own arithmetic."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policykit.kube.scores import ratio
from policykit.model.workload import Point
from policykit.targets.kubernetes.scheduler.configuration import RATIO
from policykit.targets.kubernetes.scheduler.weights import affinity_weight, fit_weight, lead
from tests.kube.scoring import Share, fit_score

RISING = (Point(0, 0), Point(100, 10))
FROM_ONE = (Point(0, 1), Point(100, 10))
MOST, LEAST = "MostAllocated", "LeastAllocated"


@pytest.mark.parametrize(
    ("strategy", "shape", "cards", "weight", "fill", "expected"),
    [
        (MOST, (), 8, 100, 2, 10),
        (LEAST, (), 8, 100, 2, 10),
        (MOST, (), 8, 1, 0, 12),
        (MOST, (), 16, 100, 2, 4),
        (MOST, (), 8, 10, 2, -7),
        (MOST, (), 102, 1, 0, 0),
        (MOST, (), 1, 100, 2, 100),
        (RATIO, RISING, 8, 100, 0, 12),
        (RATIO, FROM_ONE, 8, 100, 2, 8),
        (RATIO, (Point(0, 0), Point(50, 0), Point(100, 10)), 8, 100, 2, -76),
        (RATIO, (Point(0, 5),), 8, 100, 2, 100),
    ],
    ids=[
        "eight cards",
        "spreading is the mirror",
        "cards alone",
        "sixteen cards",
        "a light card",
        "more cards than scores",
        "nothing to compare",
        "a straight shape",
        "a shape from one",
        "a card that drops out",
        "a flat shape",
    ],
)
def test_lead(
    strategy: str, shape: tuple[Point, ...], cards: int, weight: int, fill: int, expected: int
) -> None:
    assert lead(strategy, shape, cards, weight, fill) == expected


SHAPES = st.lists(st.tuples(st.integers(0, 100), st.integers(0, 10)), min_size=1, max_size=4).map(
    lambda points: tuple(Point(*point) for point in sorted(dict(points).items()))
)


def _fit(
    strategy: str, shape: tuple[Point, ...], cards: int, used: int, weights: tuple[int, int], full: int
) -> int:
    card, fill = weights
    others = [Share(0, full, 100, fill)] if fill else []
    return fit_score(strategy, [Share(used - 1, 1, cards, card), *others], shape)


@given(
    st.sampled_from([MOST, LEAST, RATIO]),
    SHAPES,
    st.integers(1, 16),
    st.integers(1, 100),
    st.integers(0, 3),
    st.data(),
)
def test_no_fill_beats_the_lead(
    strategy: str, shape: tuple[Point, ...], cards: int, weight: int, fill: int, data: st.DataObject
) -> None:
    """The difference of two nodes is never below the lead, whatever else they hold."""

    def alone(used: int) -> int:
        if strategy == RATIO:
            return ratio(used, cards, shape)
        return used if strategy == MOST else -used

    one, other = (data.draw(st.integers(1, cards)) for _ in range(2))
    better, worse = (one, other) if alone(one) >= alone(other) else (other, one)
    if alone(better) == alone(worse):
        return
    full = [data.draw(st.integers(0, 100)) for _ in range(2)]
    weights = (weight, fill)
    difference = _fit(strategy, shape, cards, better, weights, full[0]) - _fit(
        strategy, shape, cards, worse, weights, full[1]
    )
    assert difference >= lead(strategy, shape, cards, weight, fill)


@given(st.sampled_from([MOST, LEAST]), st.integers(2, 16), st.integers(1, 100), st.integers(0, 3))
def test_the_lead_is_reached(strategy: str, cards: int, weight: int, fill: int) -> None:
    """Two nodes exist that are no further apart: a larger promise would be wrong."""
    order = range(1, cards + 1) if strategy == MOST else range(cards, 0, -1)
    full = (0, 100) if strategy == MOST else (100, 0)
    found = [
        _fit(strategy, (), cards, better, (weight, fill), full[0])
        - _fit(strategy, (), cards, worse, (weight, fill), full[1])
        for worse, better in pairwise(order)
    ]
    assert min(found) == lead(strategy, (), cards, weight, fill)


@pytest.mark.parametrize(
    ("leads", "rivals", "expected"),
    [([10], 650, 66), ([10, 3], 650, 217), ([0, 10], 650, 66), ([0], 650, 651), ([], 650, 651)],
)
def test_fit_weight(leads: list[int], rivals: int, expected: int) -> None:
    assert fit_weight(leads, rivals) == expected


@given(st.integers(1, 100), st.integers(0, 2000))
def test_fit_weight_is_the_smallest(least: int, rivals: int) -> None:
    weight = fit_weight([least], rivals)
    assert weight * least > rivals >= (weight - 1) * least


@given(st.integers(1, 100), st.integers(1, 700), st.integers(0, 2000))
def test_affinity_weight_is_the_smallest(gap: int, fit: int, rivals: int) -> None:
    weight = affinity_weight(gap, fit, rivals)
    assert weight * gap > 100 * fit + rivals >= (weight - 1) * gap
