"""Scores: tables at the edges, and laws that hold for any numbers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policykit.kube import scores
from tests.kube import scoring
from tests.kube.scoring import Share

STRATEGIES = ("LeastAllocated", "MostAllocated", "RequestedToCapacityRatio")
RISING = [(0, 0), (100, 10)]
REQUESTED = st.integers(0, 10**13)
ALLOCATABLE = st.integers(1, 10**13)
SHAPES = st.lists(
    st.tuples(st.integers(0, 100), st.integers(0, 10)),
    min_size=1,
    max_size=5,
    unique_by=lambda point: point[0],
).map(sorted)
SHARES = st.lists(st.builds(Share, REQUESTED, REQUESTED, ALLOCATABLE, st.integers(1, 100)), max_size=4)


@pytest.mark.parametrize(
    ("requested", "allocatable", "least", "most", "ratio"),
    [
        (0, 0, 0, 0, 100),
        (0, 8, 100, 0, 0),
        (3, 8, 62, 37, 37),
        (8, 8, 0, 100, 100),
        (9, 8, 0, 100, 100),
    ],
)
def test_one_resource(requested: int, allocatable: int, least: int, most: int, ratio: int) -> None:
    assert scores.least(requested, allocatable) == least
    assert scores.most(requested, allocatable) == most
    assert scores.ratio(requested, allocatable, RISING) == ratio


@pytest.mark.parametrize(("utilization", "score"), [(0, 100), (25, 59), (59, 2), (60, 0), (61, 0), (100, 0)])
def test_falling_shapes_are_cut_off_toward_zero(utilization: int, score: int) -> None:
    assert scores.ratio(utilization, 100, [(0, 10), (60, 0)]) == score


def test_another_strategy_is_not_scored() -> None:
    with pytest.raises(KeyError):
        scoring.score("leastAllocated", 1, 2)


def test_nothing_to_score_is_zero() -> None:
    assert [scoring.fit_score(strategy, [], RISING) for strategy in STRATEGIES] == [0, 0, 0]
    assert scoring.balanced_score([]) == 0
    assert scoring.normalised([]) == ()


def test_shares_leave_out_what_does_not_count() -> None:
    weights = {"cpu": 1, "memory": 2, "nvidia.com/gpu": 5, "amd.com/gpu": 5}
    allocatable = {"cpu": 1000, "nvidia.com/gpu": 8, "amd.com/gpu": 8}
    found = scoring.shares(weights, allocatable, {"cpu": 100, "amd.com/gpu": 8}, {"nvidia.com/gpu": 1})
    assert found == {"cpu": Share(100, 0, 1000, 1), "nvidia.com/gpu": Share(0, 1, 8, 5)}


@pytest.mark.parametrize(
    ("raw", "plain", "reverse"),
    [
        ([0, 0], (0, 0), (100, 100)),
        ([7, 3, 0], (100, 42, 0), (0, 58, 100)),
        ([2, 2], (100, 100), (0, 0)),
    ],
)
def test_normalised(raw: list[int], plain: tuple[int, ...], reverse: tuple[int, ...]) -> None:
    assert scoring.normalised(raw) == plain
    assert scoring.normalised(raw, reverse=True) == reverse


def test_balance_that_worsens_can_fall_below_fifty() -> None:
    # Even before, one resource full and the other empty after: 50 + (50 + 50 - 100) / 2.
    assert scoring.balanced_score([Share(0, 10, 10), Share(0, 0, 10)]) == 50
    assert scoring.balanced_score([Share(0, 10, 10), Share(0, 0, 10)], up_to_1_35=True) == 50


@given(st.sampled_from(STRATEGIES), SHARES, SHAPES)
def test_fit_is_between_0_and_100(strategy: str, shares: list[Share], shape: list[tuple[int, int]]) -> None:
    assert 0 <= scoring.fit_score(strategy, shares, shape) <= 100


@given(SHARES, st.booleans())
def test_balance_is_between_0_and_100(shares: list[Share], up_to_1_35: bool) -> None:
    assert 0 <= scoring.balanced_score(shares, up_to_1_35=up_to_1_35) <= 100


@given(REQUESTED, REQUESTED, ALLOCATABLE)
def test_one_resource_is_monotone(one: int, other: int, allocatable: int) -> None:
    less, more = sorted((one, other))
    assert scores.least(less, allocatable) >= scores.least(more, allocatable)
    assert scores.most(less, allocatable) <= scores.most(more, allocatable)
    assert scores.ratio(less, allocatable, RISING) <= scores.ratio(more, allocatable, RISING)


@given(REQUESTED, ALLOCATABLE)
def test_least_and_most_add_up(requested: int, allocatable: int) -> None:
    if requested <= allocatable:
        assert scores.least(requested, allocatable) + scores.most(requested, allocatable) in (99, 100)


@given(REQUESTED, ALLOCATABLE, SHAPES)
def test_a_shape_stays_between_its_scores(
    requested: int, allocatable: int, shape: list[tuple[int, int]]
) -> None:
    points = [score * 10 for _, score in shape]
    assert min(points) <= scores.ratio(requested, allocatable, shape) <= max(points)


@given(SHARES.filter(bool), st.sampled_from(STRATEGIES[:2]))
def test_a_mean_lies_between_its_parts(shares: list[Share], strategy: str) -> None:
    each = [scoring.score(strategy, share.requested, share.allocatable) for share in shares]
    assert min(each) <= scoring.fit_score(strategy, shares) <= max(each)


@given(st.lists(st.integers(0, 1000), max_size=6))
def test_normalising_keeps_the_order(raw: list[int]) -> None:
    plain, reverse = scoring.normalised(raw), scoring.normalised(raw, reverse=True)
    for i, first in enumerate(raw):
        for j, second in enumerate(raw):
            assert first > second or (plain[i] <= plain[j] and reverse[i] >= reverse[j])
    assert all(0 <= points <= 100 for points in (*plain, *reverse))
