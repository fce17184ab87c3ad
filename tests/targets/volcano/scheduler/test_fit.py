"""Packing some resources and spreading others, and keeping scarce cards free: what the weights promise."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policykit.model.placement import Placement, Point, ResourcePlacement
from policykit.model.pool import Amounts
from policykit.model.release import Version
from policykit.model.workload import WorkloadKind
from policykit.targets.volcano.options import VolcanoOptions
from policykit.targets.volcano.scheduler import reasons, weights
from policykit.targets.volcano.scheduler.plugins import scarce_weight
from policykit.targets.volcano.scheduler.scoring import Scoring, scoring
from tests.targets.volcano import node_scores as scores
from tests.targets.volcano.clusters import GPU, INFERENCE, TRAINING, cluster, pool, target

CAPACITY = 1000
OTHERS = st.fixed_dictionaries(dict.fromkeys(weights.RIVALS, st.integers(0, 100)))


def scored(
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
    made = scored(placement, pools=(pool("p", "training", 2, cards),))
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
    made = scored(placement)
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
    made = scored(Placement("p", "binpack", avoid=(GPU,)))
    asked = {"cpu": 10}
    preferred = total(made, ({}, {"cpu": CAPACITY, GPU: 8}), asked, data.draw(OTHERS), 100)
    other = total(
        made, ({"cpu": data.draw(st.integers(0, 900))}, {"cpu": CAPACITY}), asked, data.draw(OTHERS), 0
    )
    assert preferred > other


def test_what_is_written_for_a_mix() -> None:
    made = scored(mixed("binpack", "spread"))
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
    made = scored(Placement("p", "binpack", avoid=(GPU,)))
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
    assert scored(packing).resources == {"cpu": 3, "memory": 1, GPU: 50}
    stated = scored(packing, options={"binpack": {"resources": {GPU: 60}}})
    assert stated.resources == {"cpu": 3, "memory": 1, GPU: 60}


BEFORE = Version(1, 12, 4)


@pytest.mark.parametrize(
    ("placement", "notices", "binpack"),
    [
        pytest.param(mixed("binpack", "spread"), (reasons.not_spread(["cpu"], BEFORE),), 62, id="mix"),
        pytest.param(
            mixed("spread", "binpack"),
            (reasons.not_spread(["memory", GPU], BEFORE),),
            1,
            id="mix-of-spread-cards",
        ),
        pytest.param(
            Placement("p", "spread", {GPU: ResourcePlacement("spread", 3)}),
            (reasons.SPREAD_ONLY, reasons.spread_by_card(BEFORE)),
            0,
            id="spread",
        ),
        pytest.param(
            Placement("p", "binpack", avoid=(GPU,)), (reasons.not_avoided((GPU,), BEFORE),), 103, id="avoid"
        ),
    ],
)
def test_before_1_13_the_nearest_is_written_and_said(
    placement: Placement, notices: tuple[str, ...], binpack: int
) -> None:
    made = scored(placement, version="1.12")
    assert (made.notices, made.binpack, made.fit) == (notices, binpack, None)


def test_wishes_that_no_release_fulfils() -> None:
    shaped = Placement("p", "binpack", shape=(Point(0, 0), Point(100, 10)))
    assert scored(shaped).notices == (reasons.unshaped(["p"]),)
    other = Placement("q", "binpack", {GPU: ResourcePlacement("binpack", 9)})
    kinds = (TRAINING._replace(placement_name="p"), INFERENCE._replace(placement_name="q"))
    made = cluster(kinds=kinds)._replace(placements={"p": shaped._replace(shape=()), "q": other})
    assert scoring(made, target(made)).notices == (reasons.other_placement(["inference"], "p"),)


def test_a_placement_of_another_scheduler_is_not_ours() -> None:
    elsewhere = Placement("p", "spread", scheduler="spreading")
    made = scored(elsewhere, kinds=(INFERENCE,))
    assert (made.binpack, made.notices) == (103, ())


@given(st.integers(1, 6), st.integers(0, 10**6))
def test_scarce_weights_are_the_smallest(resources: int, rivals: int) -> None:
    weight = scarce_weight(resources, rivals)
    assert 100 * weight >= resources * (100 * rivals + 1) > 100 * (weight - 1)


def test_stated_options_by_default() -> None:
    assert not VolcanoOptions().enables("sla")
    assert not VolcanoOptions().disables("sla")
