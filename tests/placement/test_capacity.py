"""Pods on empty nodes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policykit.model.pool import Shape
from policykit.placement.capacity import pods_in, pods_on

CARD = "example.com/card"


@pytest.mark.parametrize(
    ("shape", "request_", "pods"),
    [
        pytest.param({CARD: 8}, {CARD: 6}, 1, id="what is left over is lost"),
        pytest.param({CARD: 8, "cpu": 4000}, {CARD: 1, "cpu": 1000}, 4, id="the scarcest decides"),
        pytest.param({CARD: 8}, {CARD: 4, "cpu": 1000}, 2, id="cpu that nobody stated"),
        pytest.param({"cpu": 4000}, {CARD: 1}, None, id="cards that nobody stated"),
        pytest.param({CARD: 8}, {}, None, id="nothing asked for"),
        pytest.param({CARD: 8}, {CARD: 16}, 0, id="larger than the node"),
    ],
)
def test_one_node(shape: dict[str, int], request_: dict[str, int], pods: int | None) -> None:
    assert pods_on(Shape(shape, 1, 1), request_) == pods


def test_nodes_without_limit() -> None:
    assert pods_in([Shape({CARD: 8}, 0, 2), Shape({CARD: 8}, 0, None)], {CARD: 8}) is None
    assert pods_in([Shape({CARD: 8}, 0, 2), Shape({CARD: 4}, 1, 1)], {CARD: 8}) == 2


@given(
    st.lists(st.tuples(st.integers(0, 64), st.integers(0, 50)), max_size=5),
    st.integers(1, 64),
)
def test_never_more_than_the_cards_there_are(nodes: list[tuple[int, int]], asked: int) -> None:
    found = pods_in([Shape({CARD: cards}, count, count) for cards, count in nodes], {CARD: asked})
    assert found is not None
    assert found * asked <= sum(cards * count for cards, count in nodes)
