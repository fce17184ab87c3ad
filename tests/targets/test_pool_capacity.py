"""What the pools of a policy offer: cards on a node, nodes, and totals."""

import pytest

from policykit.model.cluster import Cluster
from policykit.model.pool import Card, Pool, Shape, Sharing
from policykit.targets import pool_capacity
from policykit.targets.pool_capacity import offered_resources, total_capacity
from tests.clusters import policy

GPU, SLICE = "nvidia.com/gpu", "nvidia.com/gpu.shared"


def cluster(*pools: Pool, per_node: int = 8) -> Cluster:
    return Cluster("maip", pools, {"h20": Card("h20", GPU, per_node=per_node)})


def pool(*sizes: int, resource: str = GPU, mode: str = "none", replicas: int = 1, card: str = "h20") -> Pool:
    """A shape per size; 0: a shape that does not state it."""
    shapes = tuple(Shape({resource: size} if size else {}, 1, 1) for size in sizes)
    resources = (resource,) if resource != GPU else ()
    return Pool("train", shapes, card=card, resources=resources, sharing=Sharing(mode, replicas))


@pytest.mark.parametrize(
    ("found", "sizes", "most"),
    [
        pytest.param(cluster(), {}, {}, id="no pools"),
        pytest.param(cluster(pool(8, card="")), {}, {}, id="no cards"),
        pytest.param(cluster(pool(8, 4), pool(8)), {GPU: (4, 8)}, {GPU: 8}, id="distinct sizes, rising"),
        pytest.param(cluster(pool(0)), {GPU: (8,)}, {GPU: 8}, id="by the card"),
        pytest.param(cluster(pool(0), per_node=0), {GPU: (0,)}, {GPU: 16}, id="unknown"),
        pytest.param(cluster(pool(4, 0)), {GPU: (4, 8)}, {GPU: 4}, id="stated by one shape"),
        pytest.param(cluster(pool()), {GPU: ()}, {GPU: 8}, id="no shapes"),
        pytest.param(
            cluster(pool(0, mode="mps", replicas=4)), {GPU: (32,)}, {GPU: 32}, id="replicas of a card"
        ),
        pytest.param(
            cluster(pool(0, resource=SLICE, mode="time-slicing", replicas=4)),
            {SLICE: (32,)},
            {SLICE: 32},
            id="replicas under their own name",
        ),
        pytest.param(
            cluster(pool(0, resource="nvidia.com/mig-1g.10gb", mode="mig-mixed")),
            {"nvidia.com/mig-1g.10gb": (0,)},
            {"nvidia.com/mig-1g.10gb": 16},
            id="partitions nobody counted",
        ),
    ],
)
def test_cards_on_a_node(found: Cluster, sizes: dict[str, tuple[int, ...]], most: dict[str, int]) -> None:
    assert pool_capacity.cards_per_node(found) == sizes
    assert pool_capacity.most_cards(found) == most


def test_only_the_pools_asked_for() -> None:
    first, second = pool(8), pool(4)
    assert pool_capacity.cards_per_node(cluster(first, second), [second]) == {GPU: (4,)}
    assert pool_capacity.cards_per_node(cluster(first, second), []) == {}


@pytest.mark.parametrize(
    ("sizes", "expected"), [((), []), ((0,), [16]), ((0, 8), [8, 16]), ((0, 16), [16])], ids=str
)
def test_an_unknown_number_is_assumed(sizes: tuple[int, ...], expected: list[int]) -> None:
    assert pool_capacity.assumed(sizes) == expected


@pytest.mark.parametrize(
    ("shape", "nodes"),
    [
        pytest.param(Shape({}, 3, 3), 3, id="fixed"),
        pytest.param(Shape({}, 1, 20), 20, id="autoscaled"),
        pytest.param(Shape({}, 2, None), 2, id="unbounded"),
        pytest.param(Shape({}, node_names=("a", "b")), 2, id="named"),
    ],
)
def test_nodes_in_all(shape: Shape, nodes: int) -> None:
    assert pool_capacity.node_total(cluster(Pool("a", (shape,)), Pool("b", (shape,)))) == 2 * nodes


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
