from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policykit.model.pool import Amounts, Pool, Shape, Sharing, Taint
from policykit.model.release import Version
from policykit.model.workload import Placement, Point, ResourcePlacement, WorkloadKind
from policykit.targets.volcano.options import VolcanoOptions
from policykit.targets.volcano.scheduler import messages, weights
from policykit.targets.volcano.scheduler.scoring import Scoring, scarce_weight, scoring
from tests.targets.volcano import node_scores as scores
from tests.targets.volcano.clusters import GPU, INFERENCE, POOLS, TRAINING, cluster, pool, target
from tests.targets.volcano.simulation import Node, place, totals

Draw = Callable[[st.SearchStrategy[Any]], Any]
OTHERS = st.fixed_dictionaries(dict.fromkeys(weights.RIVALS, st.integers(0, 100)))
CAPACITY = 1000
"""cpu and memory of a simulated node."""


def scored(**parts: Any) -> Scoring:
    made = cluster(**parts)
    return scoring(made, target(made))


@st.composite
def options(draw: st.DrawFn, cards: int) -> dict[str, Any]:
    """binpack weights a policy may state, the card heavy enough to win."""
    cpu, memory = draw(st.integers(0, 4)), draw(st.integers(0, 4))
    stated = {"cpu": cpu, "memory": memory}
    if draw(st.booleans()):
        stated[GPU] = cards * (cpu + memory) + draw(st.integers(1, 100))
    return draw(st.sampled_from([{}, {"binpack": {"resources": stated}}]))


@st.composite
def requests(draw: st.DrawFn, cards: int) -> dict[str, int]:
    return {
        GPU: draw(st.integers(1, cards)),
        "cpu": draw(st.integers(0, CAPACITY)),
        "memory": draw(st.integers(0, CAPACITY)),
    }


def node(draw: Draw, cards: int, asked: Amounts, cards_used: int) -> Node:
    used = {name: draw(st.integers(0, CAPACITY - asked[name])) for name in ("cpu", "memory")}
    allocatable = {GPU: cards, "cpu": CAPACITY, "memory": CAPACITY}
    return Node(allocatable, {**used, GPU: cards_used}, others=draw(OTHERS))


@settings(deadline=None, max_examples=300)
@given(st.data())
def test_packing_wins(data: st.DataObject) -> None:
    cards = data.draw(st.integers(2, 16))
    made = scored(pools=(pool("p", "training", 2, cards),), options=data.draw(options(cards)))
    asked = data.draw(requests(cards - 1))
    more = data.draw(st.integers(1, cards - asked[GPU]))
    fuller = node(data.draw, cards, asked, more)
    emptier = node(data.draw, cards, asked, data.draw(st.integers(0, more - 1)))
    won, lost = totals(made, [fuller, emptier], asked)
    assert won > lost


@pytest.mark.parametrize("version", ["1.8.2", "1.15.0", "1.15.1"])
@settings(deadline=None, max_examples=200)
@given(st.data())
def test_an_empty_node_of_the_preferred_usage_wins(version: str, data: st.DataObject) -> None:
    cards = data.draw(st.integers(1, 16))
    levels = data.draw(st.lists(st.integers(1, 100), min_size=1, max_size=3, unique=True))
    usages = ("a", "b", "c", "d")
    prefer = dict(zip(usages, levels, strict=False))
    kind = WorkloadKind("k", usages, prefer)
    made = scored(
        pools=(pool("p", "a", 2, cards),), kinds=(kind,), options=data.draw(options(cards)), version=version
    )
    asked = data.draw(requests(cards))
    present = data.draw(st.lists(st.sampled_from([*levels, 0]), min_size=2, max_size=4, unique=True))
    candidates = [
        node(data.draw, cards, asked, data.draw(st.integers(0, cards - asked[GPU])))._replace(
            preference=level
        )
        for level in present
    ]
    best = present.index(max(present))
    candidates[best] = candidates[best]._replace(used={})
    ranked = totals(made, candidates, asked, normalised=version == "1.15.1")
    assert all(ranked[best] > other for number, other in enumerate(ranked) if number != best)


@settings(deadline=None, max_examples=100)
@given(st.data())
def test_preference_wins_over_spreading_kinds_too(data: st.DataObject) -> None:
    kind = WorkloadKind("k", ("a", "b"), {"a": 100}, placement="spread")
    made = scored(kinds=(kind,))
    asked = data.draw(requests(8))
    other = node(data.draw, 8, asked, 0)
    preferred = node(data.draw, 8, asked, 0)._replace(preference=100)
    won, lost = totals(made, [preferred, other], asked)
    assert won > lost


NODE: Amounts = {"cpu": 180_000, "memory": 1900 << 30, GPU: 8}
ONE_CARD: Amounts = {"cpu": 1000, "memory": 1 << 30, GPU: 1}
TWO_CARDS: Amounts = {"cpu": 40, "memory": 40 << 20, GPU: 2}


@pytest.mark.parametrize(
    ("asked", "pods", "expected"),
    [
        pytest.param(ONE_CARD, 8, [1] * 8, id="seed-004-eight-of-one"),
        pytest.param(ONE_CARD, 9, [1] * 8 + [0], id="the-ninth-spills"),
        pytest.param(TWO_CARDS, 3, [1, 1, 1], id="seed-003-three-of-two"),
        pytest.param(TWO_CARDS, 5, [1, 1, 1, 1, 0], id="seed-003-the-fifth-spills"),
        pytest.param(TWO_CARDS, 9, [1, 1, 1, 1, 0, 0, 0, 0, None], id="both-full"),
    ],
)
def test_placements_step_by_step(asked: Amounts, pods: int, expected: list[int | None]) -> None:
    assert place(scored(), [Node(NODE), Node(NODE)], asked, pods) == expected


def test_volcano_as_shipped_spreads_the_seeds_pods() -> None:
    shipped = Scoring(
        1,
        {"cpu": 1, "memory": 1},
        {"leastrequested": 1, "balancedresource": 1, "nodeaffinity": 2, **weights.RIVALS},
    )
    assert place(shipped, [Node(NODE), Node(NODE)], ONE_CARD, 4) == [1, 0, 1, 0]


def test_seed_000_weights_and_why() -> None:
    made = scored()
    assert made.binpack == 103
    assert made.resources == {"cpu": 1, "memory": 1, GPU: 32}
    assert made.parts == {
        "leastrequested": 0,
        "mostrequested": 0,
        "balancedresource": 0,
        "nodeaffinity": 110,
        "podaffinity": 2,
        "tainttoleration": 3,
        "imagelocality": 1,
        "podtopologyspread": 2,
    }
    assert made.notices == ()
    assert made.comments == (
        "Every part of a node's score is 0 to 100 times its weight. Per 100:",
        "Of two equal nodes the one with one more card in use wins, however full:",
        "  nvidia.com/gpu, 8 per node:",
        "  binpack 103 x (32 - 8 x 2) / (8 x 34) = 6.06 > 6",
        "  where 6 = tainttoleration 3 + imagelocality 1 + podtopologyspread 2",
        "An empty node of a preferred usage wins over a full one of another:",
        "  nodeaffinity 110 x 100/100 = 110.00 > 109",
        "  where 109 = binpack 103 + tainttoleration 3 + imagelocality 1 + podtopologyspread 2",
        "Not in the sums, as pods must request it: podaffinity, own preferences.",
        "leastrequested, mostrequested and balancedresource are 0: they score cpu",
        "and memory, and would pull pods away from the node whose cards are in use.",
    )


def test_two_preferred_usages_take_a_larger_weight() -> None:
    kind = TRAINING._replace(prefer={"training": 100, "hybrid": 60})
    made = scored(kinds=(kind, INFERENCE))
    assert made.parts["nodeaffinity"] == 273
    assert made.notices == ()


SPREAD = WorkloadKind("web", ("inference",), scheduler="volcano", placement="spread")
ELSEWHERE = WorkloadKind("batch", ("inference",), scheduler="koord-scheduler", placement="spread")
SHARED = Pool(
    "s",
    (Shape({}, 1, 1),),
    card="h20",
    resources=(GPU,),
    sharing=Sharing("time-slicing", 4),
)
MIG = Pool("m", (Shape({}, 1, 1),), card="h20", resources=("nvidia.com/mig-1g.10gb",))


@pytest.mark.parametrize(
    ("parts", "binpack", "notices"),
    [
        pytest.param(
            {"kinds": (TRAINING, SPREAD)}, 103, (messages.spread_ignored([SPREAD]),), id="spread-shares-it"
        ),
        pytest.param({"kinds": (TRAINING, ELSEWHERE)}, 103, (), id="spread-elsewhere"),
        pytest.param({"kinds": (SPREAD,)}, 0, (messages.SPREAD_ONLY,), id="only-spread"),
        pytest.param({"kinds": ()}, 103, (), id="no-kinds"),
        pytest.param(
            {"options": {"binpack": {"resources": {"cpu": 0, "memory": 0}}}}, 49, (), id="cards-alone"
        ),
        pytest.param({"options": {"binpack": {"weight": 200, "resources": {}}}}, 200, (), id="heavier"),
        pytest.param({"options": {"binpack": {"weight": 0}}}, 0, (messages.OFF,), id="switched-off"),
        pytest.param(
            {"options": {"binpack": {"weight": 5, "resources": {}}}},
            5,
            (messages.too_low(5, 103),),
            id="too-low",
        ),
        pytest.param(
            {"options": {"binpack": {"resources": {GPU: 10}}}},
            58,
            (
                "binpack weight 10 of nvidia.com/gpu is too low: one card of 8 weighs 10/8, and "
                "other requests up to 2, which can outweigh a card in use. Set at least 17",
            ),
            id="card-too-light",
        ),
        pytest.param(
            {"options": {"binpack": {"resources": {"rdma/hca": 3}}}},
            103,
            (),
            id="a-further-resource-is-a-fill",
        ),
        pytest.param(
            {"pools": (*POOLS, pool("small", "training", 2, 4))},
            103,
            (messages.mixed_sizes(GPU, [4, 8]),),
            id="mixed-sizes",
        ),
        pytest.param({"pools": (SHARED,)}, 391, (), id="size-from-catalogue-and-replicas"),
        pytest.param(
            {"pools": (MIG,)}, 199, (messages.unknown_size("nvidia.com/mig-1g.10gb", 16),), id="size-unknown"
        ),
        pytest.param({"pools": ()}, 1, (), id="no-cards"),
        pytest.param(
            {"pools": (POOLS[0]._replace(taints=(Taint("spot", "", "PreferNoSchedule"),)),)},
            103,
            (messages.outweighed_taints(["train-h20"]),),
            id="soft-taint",
        ),
    ],
)
def test_what_it_cannot_do_is_said(parts: dict[str, Any], binpack: int, notices: tuple[str, ...]) -> None:
    made = scored(**parts)
    assert (made.binpack, made.notices) == (binpack, notices)


@pytest.mark.parametrize(
    ("version", "weight", "why"),
    [
        ("1.15.1", 219, "  nodeaffinity 219 x 50/100 = 109.50 > 109"),
        ("1.15.0", 10_901, "  nodeaffinity 10901 x 1/100 = 109.01 > 109"),
        ("1.8.2", 10_901, "  nodeaffinity 10901 x 1/100 = 109.01 > 109"),
    ],
)
def test_before_normalising_preferences_count_as_written(version: str, weight: int, why: str) -> None:
    kind = TRAINING._replace(prefer={"training": 2, "hybrid": 1})
    made = scored(kinds=(kind,), version=version)
    assert made.parts["nodeaffinity"] == weight
    assert why in made.comments
    assert (messages.AS_WRITTEN[0] in made.comments) == (version != "1.15.1")


def test_weights_too_large_to_write() -> None:
    heavy = {"cpu": 10**8, "memory": 1, GPU: 8 * (10**8 + 1) + 1}
    made = scored(options={"binpack": {"resources": heavy}})
    needed = weights.packing_weight(weights.Step(GPU, 8, heavy[GPU], 10**8 + 1), 6)
    assert needed is not None
    assert needed > weights.LARGEST
    assert (made.binpack, made.parts["nodeaffinity"]) == (weights.LARGEST, weights.LARGEST)
    rivals = weights.LARGEST + 6
    assert made.notices == (
        messages.too_heavy(needed),
        messages.too_close(TRAINING, 100, rivals + 1),
        messages.too_close(INFERENCE, 100, rivals + 1),
    )
    lost = f"{weights.LARGEST}.00 <= {rivals}, so this does not hold"
    assert f"  nodeaffinity {weights.LARGEST} x 100/100 = {lost}" in made.comments


def scored_mix(
    placement: Placement, kinds: tuple[WorkloadKind, ...] = (TRAINING, INFERENCE), **parts: Any
) -> Scoring:
    named = tuple(
        kind._replace(placement=placement.strategy, placement_name=placement.name) for kind in kinds
    )
    made = cluster(kinds=named, **parts)._replace(placements={placement.name: placement})
    return scoring(made, target(made))


def total(
    made: Scoring, node: tuple[Amounts, Amounts], asked: Amounts, others: dict[str, int], near: int
) -> float:
    """The score of a node: (used, allocatable) as resource-strategy-fit, sra and nodeorder see it."""
    used, allocatable = node
    assert made.fit
    arguments = made.fit.plugin.arguments
    resources = {
        name: (each["type"], each["weight"]) for name, each in arguments.get("resources", {}).items()
    }
    fitted = scores.strategy_fit(asked, used, allocatable, resources, arguments["resourceStrategyFitWeight"])
    sra = arguments.get("sra", {"resourceWeight": {}, "weight": 0})
    free = (
        scores.scarce_free(asked, allocatable, sra["resourceWeight"], sra["weight"]) if sra["weight"] else 0.0
    )
    packed = scores.binpack(asked, used, allocatable, made.resources, made.binpack) if made.binpack else 0.0
    return fitted + free + packed + scores.nodeorder({**others, "nodeaffinity": near}, made.parts)


def mixed(cards: str, cpu: str, weight: int = 40) -> Placement:
    return Placement("p", cards, {GPU: ResourcePlacement(cards, weight), "cpu": ResourcePlacement(cpu, 1)})


@settings(deadline=None, max_examples=200)
@given(st.data())
def test_the_card_decides_whatever_cpu_says(data: st.DataObject) -> None:
    cards = data.draw(st.integers(2, 16))
    packing = data.draw(st.booleans())
    placement = (
        mixed("binpack", "spread", 2 * cards + 1) if packing else mixed("spread", "binpack", 2 * cards + 1)
    )
    made = scored_mix(placement, pools=(pool("p", "training", 2, cards),))
    asked = {
        GPU: data.draw(st.integers(1, cards - 1)),
        "cpu": data.draw(st.integers(0, CAPACITY)),
        "memory": data.draw(st.integers(0, CAPACITY)),
    }
    more = data.draw(st.integers(1, cards - asked[GPU]))
    fewer = data.draw(st.integers(0, more - 1))
    allocatable = {GPU: cards, "cpu": CAPACITY, "memory": CAPACITY}
    totals = []
    for in_use in (more, fewer):
        used = {name: data.draw(st.integers(0, CAPACITY - asked[name])) for name in ("cpu", "memory")}
        others = data.draw(OTHERS)
        totals.append(total(made, ({**used, GPU: in_use}, allocatable), asked, others, 0))
    fuller, emptier = totals
    assert fuller > emptier if packing else emptier > fuller


@settings(deadline=None, max_examples=200)
@given(st.data())
def test_pods_without_cards_stay_off_nodes_with_them(data: st.DataObject) -> None:
    avoid = data.draw(st.sampled_from([(GPU,), (GPU, "rdma/hca"), (GPU, "rdma/hca", "example.com/dongle")]))
    strategy = data.draw(st.sampled_from(["binpack", "spread"]))
    placement = Placement("p", strategy, avoid=avoid)
    made = scored_mix(placement)
    asked = {"cpu": data.draw(st.integers(1, 500)), "memory": data.draw(st.integers(0, 500))}
    has = data.draw(st.lists(st.sampled_from(avoid), unique=True, max_size=len(avoid) - 1))
    lacks = next(name for name in avoid if name not in has)
    totals = []
    for scarce in (has, [*has, lacks]):
        allocatable = {"cpu": CAPACITY, "memory": CAPACITY, **dict.fromkeys(scarce, 8)}
        used = {name: data.draw(st.integers(0, CAPACITY - asked[name])) for name in ("cpu", "memory")}
        totals.append(total(made, (used, allocatable), asked, data.draw(OTHERS), 0))
    without, with_it = totals
    assert without > with_it


@settings(deadline=None, max_examples=100)
@given(st.data())
def test_a_preferred_usage_wins_over_scarcity(data: st.DataObject) -> None:
    made = scored_mix(Placement("p", "binpack", avoid=(GPU,)))
    asked = {"cpu": 10}
    preferred = total(made, ({}, {"cpu": CAPACITY, GPU: 8}), asked, data.draw(OTHERS), 100)
    other = total(
        made, ({"cpu": data.draw(st.integers(0, 900))}, {"cpu": CAPACITY}), asked, data.draw(OTHERS), 0
    )
    assert preferred > other


def test_what_is_written_for_a_mix() -> None:
    made = scored_mix(mixed("binpack", "spread"))
    assert [plugin.name for plugin in made.plugins] == ["nodeorder", "resource-strategy-fit"]
    assert made.plugins[1].arguments == {
        "resourceStrategyFitWeight": 85,
        "resources": {
            "cpu": {"type": "LeastAllocated", "weight": 1},
            "memory": {"type": "MostAllocated", "weight": 1},
            GPU: {"type": "MostAllocated", "weight": 40},
        },
    }
    assert made.parts["leastrequested"] == made.parts["balancedresource"] == 0
    assert made.comments[:5] == (
        "Every part of a node's score is 0 to 100 times its weight. Per 100:",
        "Of two equal nodes the one with one more card in use wins, however full:",
        "  nvidia.com/gpu, 8 per node:",
        "  resource-strategy-fit 85 x (40 - 8 x 2) / (8 x 42) = 6.07 > 6",
        "  where 6 = tainttoleration 3 + imagelocality 1 + podtopologyspread 2",
    )
    assert made.notices == ()


def test_what_is_written_for_scarce_cards() -> None:
    made = scored_mix(Placement("p", "binpack", avoid=(GPU,)))
    assert [plugin.name for plugin in made.plugins] == ["nodeorder", "binpack", "resource-strategy-fit"]
    assert made.binpack == 103
    assert made.plugins[2].arguments == {
        "resourceStrategyFitWeight": 0,
        "sra": {"enable": True, "resources": GPU, "weight": 110, "resourceWeight": {GPU: 1}},
    }
    assert made.comments[5:8] == (
        "A node without scarce resources wins for pods that request none:",
        "  sra 110 x 1/1 = 110.00 > 109",
        "  where 109 = binpack 103 + tainttoleration 3 + imagelocality 1 + podtopologyspread 2",
    )
    assert made.parts["nodeaffinity"] == 220


def test_weights_of_a_placement_are_those_of_binpack() -> None:
    packing = Placement(
        "p", "binpack", {GPU: ResourcePlacement("binpack", 50), "cpu": ResourcePlacement("binpack", 3)}
    )
    assert scored_mix(packing).resources == {"cpu": 3, "memory": 1, GPU: 50}
    stated = scored_mix(packing, options={"binpack": {"resources": {GPU: 60}}})
    assert stated.resources == {"cpu": 3, "memory": 1, GPU: 60}


BEFORE = Version(1, 12, 4)


@pytest.mark.parametrize(
    ("placement", "notices", "binpack"),
    [
        pytest.param(mixed("binpack", "spread"), (messages.not_spread(["cpu"], BEFORE),), 62, id="mix"),
        pytest.param(
            mixed("spread", "binpack"),
            (messages.not_spread(["memory", GPU], BEFORE),),
            1,
            id="mix-of-spread-cards",
        ),
        pytest.param(
            Placement("p", "spread", {GPU: ResourcePlacement("spread", 3)}),
            (messages.SPREAD_ONLY, messages.spread_by_card(BEFORE)),
            0,
            id="spread",
        ),
        pytest.param(
            Placement("p", "binpack", avoid=(GPU,)), (messages.not_avoided((GPU,), BEFORE),), 103, id="avoid"
        ),
    ],
)
def test_before_1_13_the_nearest_is_written_and_said(
    placement: Placement, notices: tuple[str, ...], binpack: int
) -> None:
    made = scored_mix(placement, version="1.12")
    assert (made.notices, made.binpack, made.fit) == (notices, binpack, None)


def test_wishes_that_no_release_fulfils() -> None:
    shaped = Placement("p", "binpack", shape=(Point(0, 0), Point(100, 10)))
    assert scored_mix(shaped).notices == (messages.unshaped(["p"]),)
    other = Placement("q", "binpack", {GPU: ResourcePlacement("binpack", 9)})
    kinds = (TRAINING._replace(placement_name="p"), INFERENCE._replace(placement_name="q"))
    made = cluster(kinds=kinds)._replace(placements={"p": shaped._replace(shape=()), "q": other})
    assert scoring(made, target(made)).notices == (messages.other_placement(["inference"], "p"),)


def test_a_placement_of_another_scheduler_is_not_ours() -> None:
    elsewhere = Placement("p", "spread", scheduler="spreading")
    made = scored_mix(elsewhere, kinds=(INFERENCE,))
    assert (made.binpack, made.notices) == (103, ())


@given(st.integers(1, 6), st.integers(0, 10**6))
def test_scarce_weights_are_the_smallest(resources: int, rivals: int) -> None:
    weight = scarce_weight(resources, rivals)
    assert 100 * weight >= resources * (100 * rivals + 1) > 100 * (weight - 1)


def test_stated_options_by_default() -> None:
    assert not VolcanoOptions().enables("sla")
    assert not VolcanoOptions().disables("sla")
