import pytest

from policykit.model.workload import Placement, Point, ResourcePlacement, WorkloadKind
from policykit.targets.yunikorn.configuration.queues_yaml import NodeSort
from policykit.targets.yunikorn.policy_configuration import node_sorting
from tests.targets.yunikorn.clusters import GPU, cluster, pool, target

PACKED = {"vcore": 1, "memory": 1, GPU: 17}


def kind(name: str, placement: str, scheduler: str = "yunikorn") -> WorkloadKind:
    return WorkloadKind(name, scheduler=scheduler, placement_name=placement)


def bare(name: str, placement: str) -> WorkloadKind:
    return WorkloadKind(name, scheduler="yunikorn", placement=placement)


def test_one_card_more_outweighs_all_of_vcore_and_memory() -> None:
    made = cluster(pools=(pool("a", 8), pool("b", 4)), kinds=(bare("t", "binpack"),))
    found = node_sorting(made, target(made), None)
    assert found.sort == NodeSort("binpacking", PACKED)
    assert found.comments == (
        f"Weight of {GPU}: one card of 4 or 8 per node outweighs vcore and memory together",
    )
    for cards in (4, 8):
        for used in range(cards):
            emptier = PACKED[GPU] * used / cards + 2
            assert PACKED[GPU] * (used + 1) / cards > emptier


@pytest.mark.parametrize(
    ("kinds", "type_"),
    [
        ((), "binpacking"),
        ((bare("a", "spread"),), "fair"),
        ((bare("a", "spread"), bare("b", "binpack")), "binpacking"),
    ],
    ids=["nothing-said", "spread", "both"],
)
def test_cards_are_packed_unless_every_kind_is_spread(kinds: tuple[WorkloadKind, ...], type_: str) -> None:
    made = cluster(kinds=kinds)
    assert node_sorting(made, target(made), None).sort == NodeSort(type_, PACKED)


def test_without_cards_nothing_is_said() -> None:
    made = cluster(pools=(pool()._replace(card="", resources=()),))
    assert node_sorting(made, target(made), None).sort == NodeSort()


def test_kinds_of_other_schedulers_do_not_count() -> None:
    made = cluster(kinds=(kind("a", "even", "volcano"),), placements={"even": Placement("even", "spread")})
    assert node_sorting(made, target(made), None).sort.type == "binpacking"


DENSE = Placement(
    "dense",
    "binpack",
    {GPU: ResourcePlacement("binpack", 10), "cpu": ResourcePlacement("spread", 2)},
    (Point(0, 0), Point(100, 10)),
    (GPU,),
)


def test_what_weights_cannot_say_is_told() -> None:
    made = cluster(
        kinds=(kind("a", "dense"), kind("b", "even"), kind("c", "even")),
        placements={"dense": DENSE, "even": Placement("even", "spread")},
    )
    found = node_sorting(made, target(made), None)
    assert found.sort == NodeSort("binpacking", {GPU: 10})
    assert [notice.split(":")[0] for notice in found.notices] == [
        "placement even is not possible",
        "placement dense",
        "placement dense",
        "placement dense",
    ]


@pytest.mark.parametrize(
    ("stated", "expected"),
    [
        (NodeSort("fair", {"vcore": 3}), NodeSort("fair", {"vcore": 3})),
        (NodeSort("binpacking"), NodeSort("binpacking", PACKED)),
    ],
    ids=["whole", "type-alone"],
)
def test_the_option_decides(stated: NodeSort, expected: NodeSort) -> None:
    made = cluster(kinds=(bare("a", "binpack"),))
    found = node_sorting(made, target(made), stated)
    assert found.sort == expected
    assert bool(found.notices) is (stated.type == "fair")
