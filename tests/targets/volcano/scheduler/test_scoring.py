from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policykit.model.pool import Amounts, Pool, Shape, Sharing
from policykit.model.taint import Taint
from policykit.model.workload import WorkloadKind
from policykit.targets.volcano.scheduler import reasons, weights
from policykit.targets.volcano.scheduler.scoring import Scoring, scoring
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
            {"kinds": (TRAINING, SPREAD)}, 103, (reasons.spread_ignored([SPREAD]),), id="spread-shares-it"
        ),
        pytest.param({"kinds": (TRAINING, ELSEWHERE)}, 103, (), id="spread-elsewhere"),
        pytest.param({"kinds": (SPREAD,)}, 0, (reasons.SPREAD_ONLY,), id="only-spread"),
        pytest.param({"kinds": ()}, 103, (), id="no-kinds"),
        pytest.param(
            {"options": {"binpack": {"resources": {"cpu": 0, "memory": 0}}}}, 49, (), id="cards-alone"
        ),
        pytest.param({"options": {"binpack": {"weight": 200, "resources": {}}}}, 200, (), id="heavier"),
        pytest.param({"options": {"binpack": {"weight": 0}}}, 0, (reasons.OFF,), id="switched-off"),
        pytest.param(
            {"options": {"binpack": {"weight": 5, "resources": {}}}},
            5,
            (reasons.too_low(5, 103),),
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
            (reasons.mixed_sizes(GPU, [4, 8]),),
            id="mixed-sizes",
        ),
        pytest.param({"pools": (SHARED,)}, 391, (), id="size-from-catalogue-and-replicas"),
        pytest.param(
            {"pools": (MIG,)}, 199, (reasons.unknown_size("nvidia.com/mig-1g.10gb", 16),), id="size-unknown"
        ),
        pytest.param({"pools": ()}, 1, (), id="no-cards"),
        pytest.param(
            {"pools": (POOLS[0]._replace(taints=(Taint("spot", "", "PreferNoSchedule"),)),)},
            103,
            (reasons.outweighed_taints(["train-h20"]),),
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
    assert (reasons.AS_WRITTEN[0] in made.comments) == (version != "1.15.1")


def test_weights_too_large_to_write() -> None:
    heavy = {"cpu": 10**8, "memory": 1, GPU: 8 * (10**8 + 1) + 1}
    made = scored(options={"binpack": {"resources": heavy}})
    needed = weights.packing_weight(weights.Step(GPU, 8, heavy[GPU], 10**8 + 1), 6)
    assert needed is not None
    assert needed > weights.LARGEST
    assert (made.binpack, made.parts["nodeaffinity"]) == (weights.LARGEST, weights.LARGEST)
    rivals = weights.LARGEST + 6
    assert made.notices == (
        reasons.too_heavy(needed),
        reasons.too_close(TRAINING, 100, rivals + 1),
        reasons.too_close(INFERENCE, 100, rivals + 1),
    )
    lost = f"{weights.LARGEST}.00 <= {rivals}, so this does not hold"
    assert f"  nodeaffinity {weights.LARGEST} x 100/100 = {lost}" in made.comments
