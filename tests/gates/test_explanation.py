"""Room that nodes have now for a pod."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policykit import api
from policykit.gates.explanation import NodeUse, PoolRoom, Refusal, Shortage, pool_room
from policykit.kube.nodes import read
from policykit.manifests.writer import dump
from policykit.model.cluster import Cluster
from policykit.placement.review import Review
from tests.live.objects import node, pod, pod_spec

CARD = "nvidia.com/gpu"


def review(cards: int) -> Review:
    """Of a pod as `patch` places it."""
    (found,) = api.where(dump(pod("a", pod_spec(cards))).encode(), Cluster("none", ()))
    return found


def use(name: str, used: int = 0, **spec: Any) -> NodeUse:
    return NodeUse(read(node(name, 8, **spec)), {CARD: used, "pods": 1} if used else {})


@pytest.mark.parametrize(
    ("nodes", "expected"),
    [
        ((), PoolRoom("train", 0, (), 0)),
        ((use("a"), use("b", 3)), PoolRoom("train", 2, ("a", "b"), 3)),
        (
            (use("a", 7), use("b", 6), use("c", 6)),
            PoolRoom("train", 3, (), 0, shortages=(Shortage(CARD, 4, (2, 2, 1)),)),
        ),
        (
            (use("a", unschedulable=True), use("b", 8)),
            PoolRoom(
                "train",
                2,
                (),
                0,
                (Refusal("unschedulable", "cordoned", ("a",)),),
                (Shortage(CARD, 4, (0,)),),
            ),
        ),
    ],
    ids=["no nodes", "room on both", "in pieces", "cordoned"],
)
def test_room_for_a_pod_with_four_cards(nodes: tuple[NodeUse, ...], expected: PoolRoom) -> None:
    assert pool_room(review(4), "train", nodes) == expected


def test_a_device_that_failed_leaves_nothing_below_zero() -> None:
    assert use("a", 9).free(CARD) == 0


def test_a_node_that_is_full_of_pods() -> None:
    full = NodeUse(read(node("a", 8)), {"pods": 110})
    (short,) = pool_room(review(1), "train", (full,)).shortages
    assert short == Shortage("pods", 1, (0,))


@given(st.lists(st.integers(0, 9), max_size=6), st.integers(1, 9))
def test_every_node_is_counted_once(used: list[int], cards: int) -> None:
    nodes = [use(f"n-{number}", amount) for number, amount in enumerate(used)]
    found = pool_room(review(cards), "train", nodes)
    refused = sum(len(each.nodes) for each in found.refusals)
    assert len(found.open_nodes) + refused + sum(len(each.free) for each in found.shortages) == len(nodes)
    assert found.pods == sum((8 - amount) // cards for amount in used if 8 - amount >= cards)
