"""Pods on empty nodes, and gangs against the racks they must stay in."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policykit import api
from policykit.formats.where import text
from policykit.model.pool import Shape
from policykit.placement.capacity import gang_problem, pods_in, pods_on, request_limit
from tests.clusters import policy

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
        pytest.param({CARD: 8, "pods": 2}, {CARD: 1}, 2, id="a node takes only so many pods"),
        pytest.param({"pods": 110}, {}, 110, id="pods that ask for nothing"),
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


def racks(size: int | None, mode: str = "hard", nodes: int = 2) -> dict[str, Any]:
    """Two racks of some nodes with 8 cards, and a kind of gangs within one."""
    pool = {
        "usage": "training",
        "card": "h20",
        "nodes": {"names": [f"n-[1-{2 * nodes}]"]},
        "topology": [
            {"nodes": [f"n-[1-{nodes}]"], "rack": "r1"},
            {"nodes": [f"n-[{nodes + 1}-{2 * nodes}]"], "rack": "r2"},
        ],
    }
    training = {
        "usages": ["training"],
        "gang": {"size": size} if size else "all",
        "within": {"level": "rack", "mode": mode},
    }
    return {
        "domain": "example.com",
        "scheme": "plain",
        "cards": {"h20": {"product": "NVIDIA-H20"}},
        "pools": {"train": pool},
        "workloads": {"training": training},
    }


JOB = b"""\
apiVersion: batch/v1
kind: Job
metadata: {name: train}
spec:
  parallelism: PODS
  completions: PODS
  template:
    metadata: {labels: {policykit.io/workload: training}}
    spec:
      restartPolicy: Never
      containers:
      - {name: main, image: "registry.example/a:1", resources: {limits: {nvidia.com/gpu: CARDS}}}
"""
NEVER = "the gang of {} pods must stay within one rack, but the largest holds 2: it never starts"
AT_MOST = "a gang of {} pods fits into one rack only if each requests at most 4 nvidia.com/gpu: a node has 8"


@pytest.mark.parametrize(
    ("data", "pods", "cards", "problem"),
    [
        (
            racks(4),
            4,
            8,
            NEVER.format(4),
        ),
        (
            racks(None),
            3,
            8,
            NEVER.format(3),
        ),
        (racks(4), 4, 4, ""),
        (racks(4, nodes=4), 4, 8, ""),
        (racks(4, "soft"), 4, 8, ""),
        (racks(4), 2, 8, ""),
    ],
    ids=["size", "all-pods", "half-nodes", "larger-racks", "soft", "fewer-pods"],
)
def test_a_gang_that_fits_into_no_domain(data: dict[str, Any], pods: int, cards: int, problem: str) -> None:
    raw = JOB.replace(b"PODS", str(pods).encode()).replace(b"CARDS", str(cards).encode())
    (review,) = api.where(raw, policy(data))
    assert gang_problem(review) == problem
    (answer,) = api.answers([("a.yaml", review)], (), policy(data), complete=False)
    assert (f"\n  refused      by the gang: {problem}\n" in text([answer])) is bool(problem)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (
            racks(4),
            AT_MOST.format(4),
        ),
        (
            racks(3),
            AT_MOST.format(3),
        ),
        (racks(17), "a gang of 17 pods with nvidia.com/gpu fits into no rack: it never starts"),
        (racks(2), ""),
        (racks(None), ""),
        (racks(4, "soft"), ""),
    ],
    ids=["half", "rounded", "never", "whole-nodes", "no-size", "soft"],
)
def test_what_pods_of_a_gang_may_request(data: dict[str, Any], said: str) -> None:
    cluster = policy(data)
    assert request_limit(cluster, cluster.workloads["training"], cluster.pools) == said
    notices = [notice.message for notice in api.generate(cluster).notices]
    assert (f"training: {said}" in notices) is bool(said)
