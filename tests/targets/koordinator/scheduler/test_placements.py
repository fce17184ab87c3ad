"""The arithmetic is right: packing beats everything else, preference beats packing."""

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policykit.model.pool import Pool, Shape, Taint
from policykit.model.workload import WorkloadKind
from policykit.targets.koordinator import versions
from policykit.targets.koordinator.options import Fit
from policykit.targets.koordinator.scheduler import chart, configuration, weights
from policykit.targets.koordinator.scheduler.placements import ASSUMED_OTHERS, Packing, default_fit, packing
from policykit.targets.koordinator.scheduler.weights import Rival
from tests.kube.scoring import Share, balanced_score, fit_score, normalised, shares
from tests.targets.koordinator.clusters import DONGLE, NODE, dongles
from tests.targets.koordinator.scheduler.scores import estimated_load, fit_plus, load_aware, numa

NAME = "koord-scheduler"
SEED_POD = {"cpu": 40, "memory": 40 * 2**20, DONGLE: 2}
RELEASES = ["1.6.0", "1.7.0", "1.8.0"]


def _numbers(version: str = "", **cluster: Any) -> Packing:
    made = dongles(version=version, **cluster)
    release = versions.parse(version)
    profile = configuration.read(chart.configuration(release, chart.NAMESPACE)).required_profile(NAME)
    return packing(made, made.targets["koordinator"], profile, NAME, release)


def test_the_seeds_numbers() -> None:
    numbers = _numbers()
    assert [(rival.plugin, rival.weight, rival.swing) for rival in numbers.rivals] == [
        ("LoadAwareScheduling", 1, 100),
        ("NodeNUMAResource", 1, 100),
        ("NodeResourcesFit", 1, 100),
        ("PodTopologySpread", 2, 100),
        ("NodeResourcesBalancedAllocation", 1, 50),
        ("ImageLocality", 1, 100),
    ]
    # Two dongles move the mean by 20 * 25 points, cpu and memory against it by 3 * 99: 203 / 23.
    assert numbers.margins == (weights.Margin(DONGLE, 8, 2, 8),)
    assert numbers.weight == 650 // 8 + 1
    assert numbers.affinity is None
    assert set(numbers.conditional) == {"NodeAffinity", "InterPodAffinity", "Reservation", "Coscheduling"}


def test_soft_taints_make_another_rival() -> None:
    pool = Pool("w", (Shape(NODE),), taints=(Taint("a", "", "PreferNoSchedule"),), resources=(DONGLE,))
    assert weights.Rival("TaintToleration", 3, 100) in _numbers(pool=pool).rivals


def test_cards_that_deviceshare_scores_make_another_rival() -> None:
    scoring = {"DeviceShare": 2}
    assert weights.rivals(scoring, ["nvidia.com/gpu"], soft_taints=False, spreads=True)[0].points == 200
    assert weights.rivals(scoring, [DONGLE], soft_taints=True, spreads=True) == ()


# Seed 003, step by step.

Used = dict[str, int]


def _plus(used: Mapping[str, int], more: Mapping[str, int]) -> Used:
    return {name: used.get(name, 0) + more.get(name, 0) for name in NODE}


def _computed(used: Used, numbers: Packing, pod: Used = SEED_POD) -> int:
    """Every plugin whose score follows from requests alone, by its own formula."""
    batch = {"kubernetes.io/batch-cpu": 1, "kubernetes.io/batch-memory": 1}
    least = {"cpu": 1, "memory": 1}
    load = {
        name: used.get(name, 0) * factor // 100 + estimated_load(name, pod[name], pod[name], factor)
        for name, factor in (("cpu", 85), ("memory", 70))
    }
    points = {
        "NodeResourcesFit": fit_score("LeastAllocated", shares({**least, **batch}, NODE, used, pod).values()),
        "NodeResourcesBalancedAllocation": balanced_score(
            shares(least, NODE, used, pod).values(), up_to_1_35=True
        ),
        "NodeNUMAResource": numa("LeastAllocated", least, NODE, used, pod),
        "LoadAwareScheduling": load_aware(least, NODE, load),
    }
    known = sum(rival.weight * points.get(rival.plugin, 0) for rival in numbers.rivals)
    return known + numbers.weight * fit_plus(numbers.fit, NODE, used, pod)


OUTSIDE = ("PodTopologySpread", "ImageLocality")
"""Score by what is not in the requests: taken wholly against packing."""


def _landing(numbers: Packing, pod: Used, pods: int, first: int) -> list[int]:
    """Node of each pod in turn, on two empty nodes; `first` takes what is tied."""
    against = sum(rival.points for rival in numbers.rivals if rival.plugin in OUTSIDE)
    nodes: list[Used] = [{}, {}]
    landed: list[int] = []
    for _ in range(pods):
        fitting = [n for n in (0, 1) if nodes[n].get(DONGLE, 0) + pod[DONGLE] <= NODE[DONGLE]]
        totals = {n: _computed(nodes[n], numbers, pod) + (0 if nodes[n] else against) for n in fitting}
        best = [n for n, total in totals.items() if total == max(totals.values())]
        landed.append(first if first in best else best[0])
        nodes[landed[-1]] = _plus(nodes[landed[-1]], pod)
        # Equal totals fall to either node: only the first pod may meet them.
        assert len(best) == 1 or len(landed) == 1
    return landed


@pytest.mark.parametrize("version", RELEASES)
@pytest.mark.parametrize("first", [0, 1])
def test_seed_003_step_by_step(version: str, first: int) -> None:
    assert _landing(_numbers(version), SEED_POD, 5, first) == [first] * 4 + [1 - first]


@pytest.mark.parametrize("version", RELEASES)
@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize("cpu", [1, 125, 250], ids=["next to no cpu", "half", "all it can"])
def test_eight_pods_of_one_card_land_on_one_node(version: str, first: int, cpu: int) -> None:
    pod = {"cpu": cpu, "memory": NODE["memory"] // 8, DONGLE: 1}
    assert _landing(_numbers(version, fit={}), pod, 9, first) == [first] * 8 + [1 - first]


def test_without_us_the_seeds_pods_spread() -> None:
    # The chart's configuration never looks at dongles: the second pod leaves the first.
    numbers = _numbers()._replace(weight=0)
    assert _computed({}, numbers) > _computed(dict(SEED_POD), numbers)


# Properties: whatever the fills, weights and requests.

_weights = st.integers(1, 40)
_pods = st.fixed_dictionaries({"cpu": st.integers(0, 2000), "memory": st.integers(0, NODE["memory"])})


def _fit(card: int, cpu: int, memory: int) -> dict[str, dict[str, object]]:
    return {
        DONGLE: {"type": "MostAllocated", "weight": card},
        "cpu": {"type": "LeastAllocated", "weight": cpu},
        "memory": {"type": "LeastAllocated", "weight": memory},
    }


@st.composite
def _fills(draw: st.DrawFn, asked: Mapping[str, int], cards: int) -> Used:
    """Of a node the pod fits on."""
    return {
        "cpu": draw(st.integers(0, NODE["cpu"] - asked["cpu"])),
        "memory": draw(st.integers(0, NODE["memory"] - asked["memory"])),
        DONGLE: cards,
    }


@given(
    st.data(),
    st.integers(20, 400),
    st.integers(1, 5),
    st.integers(1, 5),
    st.sampled_from(RELEASES),
    st.integers(1, 100),
)
def test_the_fuller_node_wins(
    data: st.DataObject, card: int, cpu: int, memory: int, version: str, cards: int
) -> None:
    allocatable = {**NODE, DONGLE: cards}
    pool = Pool("w", (Shape(allocatable, 2, 2),), card="dongle", resources=(DONGLE,))
    numbers = _numbers(version, fit=_fit(card, cpu, memory), pool=pool)
    (margin,) = numbers.margins
    if not margin.points:
        return
    wanted = data.draw(st.integers(1, max(1, cards - margin.step)))
    if wanted + margin.step > cards:
        return
    asked = {**data.draw(_pods), DONGLE: wanted}
    emptier = data.draw(st.integers(0, cards - wanted - margin.step))
    fuller = data.draw(st.integers(emptier + margin.step, cards - wanted))
    low = data.draw(_fills(asked, emptier))
    high = data.draw(_fills(asked, fuller))
    gained = fit_plus(numbers.fit, allocatable, high, asked) - fit_plus(numbers.fit, allocatable, low, asked)
    assert gained >= margin.points
    assert numbers.weight * gained > sum(rival.points for rival in numbers.rivals)


def test_the_margin_is_no_smaller_than_it_must_be() -> None:
    # The worst case itself: cpu and memory full on the fuller node, free on the emptier.
    asked = {"cpu": 1, "memory": 1, DONGLE: 1}
    low, high = {DONGLE: 0}, {"cpu": 1999, "memory": NODE["memory"] - 1, DONGLE: 2}
    numbers = _numbers()
    assert fit_plus(numbers.fit, NODE, high, asked) - fit_plus(numbers.fit, NODE, low, asked) in (8, 9)


@given(st.integers(1, 100))
def test_default_weights_leave_half_of_a_card(cards: int) -> None:
    fit = default_fit({DONGLE: cards})
    found = weights.margin(DONGLE, cards, fit, ["cpu", "memory"])
    if weights.decides_singly(cards):
        assert (found.step, found.points) == (1, (100 // cards) // 2)
    else:
        assert found.points > 0


@given(st.integers(1, 50), st.lists(st.builds(Fit, st.just("LeastAllocated"), _weights), max_size=3))
def test_the_lightest_weight_that_decides(cards: int, beside: list[Fit]) -> None:
    found = weights.lightest(100 // cards, beside, 1)
    fit = {str(position): each for position, each in enumerate(beside)}
    for weight, decides in ((found, True), (found - 1, False)):
        if weight:
            margin = weights.margin(DONGLE, cards, {**fit, DONGLE: Fit("MostAllocated", weight)}, fit)
            assert (margin.step == 1 and margin.points > 0) == decides


_usages = ["training", "hybrid", "inference"]


@given(
    st.dictionaries(st.sampled_from(_usages), st.integers(1, 100), min_size=1),
    st.permutations(_usages),
    st.data(),
    st.sampled_from(RELEASES),
)
def test_an_empty_preferred_node_outranks_any_other(
    prefer: dict[str, int], usages: list[str], data: st.DataObject, version: str
) -> None:
    kind = WorkloadKind("k", tuple(usages), prefer, scheduler=NAME)
    numbers = _numbers(version, workloads=(kind,))
    present = data.draw(st.lists(st.sampled_from(usages), min_size=2, max_size=3, unique=True))
    raw = [prefer.get(usage, 0) for usage in present]
    scores = normalised(raw)
    asked = {**data.draw(_pods), DONGLE: data.draw(st.integers(1, 8))}
    better, worse = raw.index(max(raw)), raw.index(min(raw))
    if raw[better] == raw[worse]:
        return
    assert numbers.affinity is not None
    fuller = fit_plus(numbers.fit, NODE, data.draw(_fills(asked, 8 - asked[DONGLE])), asked)
    empty = fit_plus(numbers.fit, NODE, {}, asked)
    against = numbers.weight * (fuller - empty) + sum(rival.points for rival in numbers.rivals)
    assert numbers.affinity * (scores[better] - scores[worse]) > against


def test_preference_of_the_seeds_cluster() -> None:
    kind = WorkloadKind("training", ("training", "hybrid"), {"training": 100}, scheduler=NAME)
    # 650 points of the others and 82 * 100 of NodeResourcesFitPlus, against 100 of NodeAffinity.
    assert _numbers(workloads=(kind,)).affinity == 89


@pytest.mark.parametrize(
    "kind",
    [
        WorkloadKind("other", ("training",), {"training": 100}, scheduler="volcano"),
        WorkloadKind("unread", ("training",), {"training": 100}),
        WorkloadKind("none", ("training",), scheduler=NAME),
    ],
    ids=lambda kind: kind.name,
)
def test_no_preference_to_raise(kind: WorkloadKind) -> None:
    assert _numbers(workloads=(kind,)).affinity is None


@pytest.mark.parametrize(
    ("prefer", "gap"),
    [
        ({"training": 100}, 100),
        ({"training": 1}, 100),
        ({"training": 100, "hybrid": 50}, 50),
        ({"training": 100, "hybrid": 99}, 1),
        ({"training": 100, "hybrid": 100, "inference": 1}, 1),
    ],
)
def test_preference_gap(prefer: dict[str, int], gap: int) -> None:
    assert weights.preference_gap(WorkloadKind("k", (*_usages, "spare"), prefer)) == gap


def avoided(allocatable: frozenset[str], asked: frozenset[str], scarce: frozenset[str]) -> int:
    """ScarceResourceAvoidance, as its source has it."""
    others = allocatable - asked
    marked = others & scarce
    return 100 if not marked else (len(others) - len(marked)) * 100 // len(others)


@given(
    st.sets(st.sampled_from("abcdefghijklmno"), max_size=14),
    st.sets(st.sampled_from("abcdefghijklmno"), max_size=14),
    st.integers(0, 5000),
    st.integers(1, 2000),
)
def test_a_plain_node_comes_before_any_scarce_one(
    plain: set[str], scarce: set[str], rivals: int, packed: int
) -> None:
    """Whatever both offer beside it, and whatever all others say against it."""
    against = [Rival("x", 1, rivals)]
    weight = weights.avoidance_weight(against, packed, ASSUMED_OTHERS)
    one = avoided(frozenset(plain), frozenset(), frozenset({"z"}))
    other = avoided(frozenset({*scarce, "z"}), frozenset(), frozenset({"z"}))
    assert one == 100
    assert one * weight > other * weight + rivals + 100 * packed
    assert 100 - other >= weights.avoidance_gap(1, len(scarce))


SHAPES = st.lists(st.integers(0, 10), min_size=2, max_size=4).map(
    lambda scores: tuple((100 * at // (len(scores) - 1), score) for at, score in enumerate(scores))
)


@given(SHAPES, st.integers(1, 16), st.integers(1, 10), st.integers(0, 3), st.booleans(), st.data())
def test_a_shapes_margin_holds(
    shape: tuple[tuple[int, int], ...], cards: int, weight: int, beside: int, packs: bool, data: st.DataObject
) -> None:
    """The node with a step more (or fewer) in use scores so much higher, however the rest is filled."""
    kind = "MostAllocated" if packs else "LeastAllocated"
    fit = {"card": Fit(kind, weight), **({"cpu": Fit(kind, beside)} if beside else {})}
    others = ["cpu"] if beside else []
    margin = weights.shape_margin("card", cards, fit, others, shape)
    if not margin.points:
        return
    more = data.draw(st.integers(margin.step + 1, cards))
    few = data.draw(st.integers(1, more - margin.step))
    winner, loser = (more, few) if packs else (few, more)

    def score(used: int, fill: int) -> int:
        shares = [Share(used - 1, 1, cards, weight)]
        shares += [Share(fill, 0, 100, beside)] if beside else []
        return fit_score("RequestedToCapacityRatio", shares, shape)

    fills = st.integers(0, 100)
    difference = score(winner, data.draw(fills)) - score(loser, data.draw(fills))
    assert difference >= margin.points
