"""What the pools hold in all, as far as anybody knows."""

import pytest

from policykit.targets.capacity import offered_resources, total_capacity
from tests.clusters import policy

CARDS = {"h20": {"product": "NVIDIA-H20"}}


@pytest.mark.parametrize(
    ("pools", "amounts"),
    [
        pytest.param({"a": {"nodes": 2, "allocatable": {"cpu": 8}}}, {"cpu": 16000}, id="nodes of one size"),
        pytest.param(
            {"a": {"nodes": {"min": 0, "max": 3}, "allocatable": {"cpu": 8}}},
            {"cpu": 24000},
            id="autoscaled, at its largest",
        ),
        pytest.param({"a": {"card": "h20", "nodes": 2}}, {"nvidia.com/gpu": 16}, id="cards of the catalogue"),
        pytest.param(
            {
                "a": {"card": "h20", "nodes": 2, "allocatable": {"nvidia.com/gpu": 4, "cpu": 8}},
                "b": {"nodes": 9},
            },
            {"nvidia.com/gpu": 8},
            id="cards as stated; cpu of the other pool is unknown",
        ),
        pytest.param(
            {"a": {"card": "h20", "nodes": {"selector": {"pool": "a"}}}}, {}, id="nobody knows how many nodes"
        ),
    ],
)
def test_held(pools: dict[str, object], amounts: dict[str, int]) -> None:
    found = total_capacity(policy({"cards": CARDS, "pools": pools}))
    assert {name: amount for name, amount in found.items() if name != "pods"} == amounts


def test_offered() -> None:
    pools = {"a": {"card": "h20", "nodes": 2}, "b": {"nodes": 1, "allocatable": {"cpu": 8}}}
    assert offered_resources(policy({"cards": CARDS, "pools": pools})) == {"cpu", "nvidia.com/gpu", "pods"}
