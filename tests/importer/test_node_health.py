"""Nodes that lost cards, and racks: a policy describes what nodes are meant to be."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml

from policykit.importer.node_differences import differences
from policykit.importer.node_membership import membership
from policykit.importer.policy import policy_of
from policykit.workspace.inputs import cluster_of_text

GPU = "nvidia.com/gpu"


def node(name: str, cards: int, **labels: str) -> dict[str, Any]:
    product = {"nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3", "nvidia.com/gpu.count": str(cards)}
    amounts = {"cpu": "180", "memory": "1900Gi", "pods": "110", GPU: str(cards)}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {**product, **labels}},
        "status": {"allocatable": amounts, "capacity": amounts},
    }


def imported(*nodes: dict[str, Any]) -> Any:
    return policy_of({"nodes.json": text(*nodes)})


def text(*nodes: dict[str, Any]) -> bytes:
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": nodes}).encode()


def test_a_node_with_seven_of_eight_cards_is_no_size_of_its_own() -> None:
    nodes = [*(node(f"n{n}", 8) for n in range(3)), node("n3", 7)]
    made = imported(*nodes)
    (pool,) = made.cluster.pools
    assert [shape.allocatable[GPU] for shape in pool.shapes] == [8]
    assert made.remarks == (
        "node n3: has 7 nvidia.com/gpu, but nodes like it have 8: it may have lost cards; the policy has 8",
    )
    seen = cluster_of_text(text(*nodes), "nodes.json")
    found = [each.node for each in differences(made.cluster, membership(made.cluster, seen.pools))]
    assert set(found) == {"n3"}


@pytest.mark.parametrize(
    "counts",
    [
        pytest.param((8, 8, 8, 4), id="half a server is one that is sold"),
        pytest.param((8, 7), id="no majority"),
        pytest.param((7, 7, 7), id="all alike"),
    ],
)
def test_other_numbers_are_sizes(counts: tuple[int, ...]) -> None:
    made = imported(*(node(f"n{number}", count) for number, count in enumerate(counts)))
    sizes = {shape.allocatable[GPU] for pool in made.cluster.pools for shape in pool.shapes}
    assert sizes == set(counts)
    assert made.remarks == ()


@pytest.mark.parametrize("key", ["topology.kubernetes.io/rack", "example.com/rack", "rack"])
def test_racks_are_topology(key: str) -> None:
    made = imported(*(node(f"n{number}", 8, **{key: f"r{number // 2}"}) for number in range(4)))
    data = yaml.safe_load(made.text)
    assert data["scheme"]["topology"] == {"rack": key}
    assert data["pools"]["h100"]["topology"] == [
        {"nodes": ["n0", "n1"], "rack": "r0"},
        {"nodes": ["n2", "n3"], "rack": "r1"},
    ]
    assert [(level.name, level.key) for level in made.cluster.levels if level.name == "rack"] == [
        ("rack", key)
    ]
