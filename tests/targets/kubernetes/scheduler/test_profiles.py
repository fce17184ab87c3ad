"""A profile for each placement: what it is, and that it keeps what its comments say."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policykit.model.cluster import TargetSettings
from policykit.model.pool import Pool, Taint
from policykit.model.topology import TopologySpread
from policykit.model.workload import Placement, Point, ResourcePlacement, WorkloadKind
from policykit.targets.kubernetes.options import SchedulerOptions
from policykit.targets.kubernetes.scheduler.configuration import RATIO, Configuration, Fit, read, write
from policykit.targets.kubernetes.scheduler.profiles import PlacementProfile, placement_profile
from policykit.targets.kubernetes.scheduler.profiles import plan as planned
from policykit.targets.kubernetes.versions import parse
from tests.targets.kubernetes.clusters import DENSE, GPU, POOLS, TRAINING, cluster, pool
from tests.targets.kubernetes.simulation import Node, total

SHAPE = (Point(0, 1), Point(100, 10))


def plan(
    placement: Placement, pools: tuple[Pool, ...] = POOLS, version: str = "1.36", **more: Any
) -> PlacementProfile:
    made = cluster(placement, pools=pools, **more)
    return placement_profile(made, placement, placement.scheduler, parse(version))


def each(strategy: str, weight: int = 1) -> ResourcePlacement:
    return ResourcePlacement(strategy, weight)


@pytest.mark.parametrize(
    ("placement", "pools", "fit"),
    [
        (DENSE, POOLS, Fit("MostAllocated", {GPU: 100, "cpu": 1, "memory": 1})),
        (DENSE._replace(strategy="spread"), POOLS, Fit("LeastAllocated", {GPU: 100, "cpu": 1, "memory": 1})),
        (DENSE._replace(shape=SHAPE), POOLS, Fit(RATIO, {GPU: 100}, SHAPE)),
        (DENSE, (pool("many", cards=64),), Fit("MostAllocated", {GPU: 100})),
        (
            DENSE._replace(resources={GPU: each("binpack", 10), "cpu": each("spread")}),
            POOLS,
            Fit("MostAllocated", {GPU: 10}),
        ),
        (
            DENSE._replace(resources={GPU: each("spread", 10), "cpu": each("binpack", 90)}),
            POOLS,
            Fit("LeastAllocated", {GPU: 10}),
        ),
        (
            DENSE._replace(resources={"cpu": each("binpack", 3)}),
            POOLS,
            Fit("MostAllocated", {GPU: 100, "cpu": 3}),
        ),
        (
            DENSE._replace(shape=SHAPE, resources={GPU: each("spread", 10)}),
            POOLS,
            Fit("LeastAllocated", {GPU: 10}),
        ),
        (DENSE, (), Fit("MostAllocated", {"cpu": 1, "memory": 1})),
        (DENSE._replace(shape=SHAPE), (), Fit(RATIO, {"cpu": 1, "memory": 1}, SHAPE)),
    ],
    ids=[
        "packed",
        "spread",
        "shape judges cards alone",
        "too many cards for cpu and memory beside",
        "other direction left out",
        "cards give the direction",
        "cards join what is listed",
        "a shape of nothing",
        "no cards",
        "shape without cards",
    ],
)
def test_strategy(placement: Placement, pools: tuple[Pool, ...], fit: Fit) -> None:
    assert plan(placement, pools).profile.fit == fit


@pytest.mark.parametrize(
    ("cards", "weight", "affinity"), [(8, 66, 73), (16, 163, 170), (4, 29, 36), (64, 651, 658), (1, 7, 14)]
)
def test_weights(cards: int, weight: int, affinity: int) -> None:
    """Of the fit, over TaintToleration 300, PodTopologySpread 200, ImageLocality 100 and balance 50."""
    pools = (pool("a", cards=cards), pool("b", "hybrid", cards=cards))
    assert plan(DENSE, pools).profile.weights == {"NodeResourcesFit": weight, "NodeAffinity": affinity}


def test_without_preference_node_affinity_stays_as_it_is() -> None:
    kinds = (TRAINING._replace(prefer={}),)
    assert plan(DENSE, kinds=kinds).profile.weights == {"NodeResourcesFit": 66}


def test_all_nodes_of_a_large_cluster_are_scored() -> None:
    assert plan(DENSE, (pool("a", nodes=100),)).profile.percentage is None
    assert plan(DENSE, (pool("a", nodes=101),)).profile.percentage == 100


def test_comments_give_the_arithmetic() -> None:
    assert plan(DENSE).comments == (
        "dense-scheduler, placement dense. Each score is 0 to 100 times its plugin's weight.",
        "nvidia.com/gpu, 8 per node: a difference of one card between two nodes of this size is worth "
        "at least 10 points, whatever else runs on them: 66 x 10 = 660 > 650 = TaintToleration 300 + "
        "PodTopologySpread 200 + "
        "NodeResourcesBalancedAllocation 50 + ImageLocality 100.",
        "An empty node of a preferred usage beats any node of the next usage, however full: NodeAffinity "
        "73 x 100 = 7300 > "
        "7250 = NodeResourcesFit 6600 + 650.",
        "Not included, because pods must opt in to them: InterPodAffinity, DynamicResources. "
        "All other plugins keep their defaults.",
    )


def test_dynamic_resources_score_since_1_35() -> None:
    assert "InterPodAffinity. All" in plan(DENSE, version="1.34").comments[-1]


def test_without_cards_a_difference_of_one_point_decides() -> None:
    found = plan(DENSE, (), kinds=(TRAINING._replace(prefer={}),))
    assert found.profile.weights == {"NodeResourcesFit": 651}
    assert found.comments[1] == (
        "No card to score: a difference of one point decides: 651 > 650 = TaintToleration 300 + "
        "PodTopologySpread 200 + NodeResourcesBalancedAllocation 50 + ImageLocality 100."
    )


KIND = WorkloadKind(
    "soft", scheduler="dense-scheduler", placement_name="dense", across=TopologySpread("zone")
)


@pytest.mark.parametrize(
    ("placement", "pools", "kinds", "said"),
    [
        (DENSE, POOLS, (TRAINING,), []),
        (
            DENSE,
            (pool("a", cards=16), pool("b", cards=8)),
            (TRAINING,),
            [
                "placement dense: nodes have 8 or 16 of nvidia.com/gpu, and kube-scheduler "
                "compares ratios, not numbers: the order is certain only among nodes of the same size"
            ],
        ),
        (
            DENSE._replace(resources={GPU: each("binpack", 10), "cpu": each("binpack")}),
            (pool("a", cards=16),),
            (TRAINING,),
            [
                "placement dense: nvidia.com/gpu has weight 10 beside cpu 1, so one card of 16 "
                "can be outweighed. "
                "Raise the card to 100, or list only cards"
            ],
        ),
        (
            DENSE._replace(
                shape=(Point(0, 0), Point(50, 0), Point(100, 10)),
                resources={GPU: each("binpack"), "cpu": each("binpack")},
            ),
            POOLS,
            (TRAINING,),
            [
                "placement dense: a score of 0 in the shape takes nvidia.com/gpu out of the mean, so cpu may "
                "outweigh it. Start the shape at score 1, or list only cards"
            ],
        ),
        (
            DENSE,
            (pool("a", cards=160),),
            (TRAINING,),
            [
                "placement dense: a node has 160 of nvidia.com/gpu, and scores are whole numbers up to 100: "
                "nodes that differ by one of them may score the same"
            ],
        ),
        (
            DENSE._replace(resources={GPU: each("binpack", 10), "cpu": each("spread")}),
            POOLS,
            (TRAINING,),
            [
                "placement dense: a kube-scheduler profile places all resources in one direction, "
                "so cpu is left "
                "out of its strategy that is binpack. For the other direction, add a placement with its "
                "own scheduler"
            ],
        ),
        (
            DENSE._replace(shape=SHAPE, resources={GPU: each("spread", 10)}),
            POOLS,
            (TRAINING,),
            [
                "placement dense: its shape is for binpack, but all its resources are placed by spread: the "
                "shape is omitted"
            ],
        ),
        (
            DENSE,
            POOLS,
            (),
            [
                "placement dense has a scheduler profile that no workload kind uses: set the placement of "
                "a workload kind, or set schedulerName in pods"
            ],
        ),
        (
            DENSE,
            POOLS,
            (TRAINING._replace(placement_name="dense", scheduler="volcano"),),
            [
                "placement dense has the scheduler dense-scheduler, which no workload kind uses: the "
                "kinds that use the placement set another,"
                " training (volcano). Remove the scheduler from one of the two"
            ],
        ),
        (
            DENSE,
            POOLS,
            (KIND,),
            [
                "workload kind soft: packing cards by placement dense outweighs a soft `across`. If pods "
                "must be spread, set mode: hard"
            ],
        ),
    ],
    ids=[
        "nothing",
        "sizes",
        "light",
        "dropping out",
        "too many",
        "directions",
        "no shape",
        "unused",
        "named with another scheduler",
        "soft spread",
    ],
)
def test_notices(
    placement: Placement, pools: tuple[Pool, ...], kinds: tuple[WorkloadKind, ...], said: list[str]
) -> None:
    assert list(plan(placement, pools, kinds=kinds).notices) == said


RIVALS = ("TaintToleration", "PodTopologySpread", "ImageLocality")
FILL = st.integers(0, 100)


@settings(max_examples=200)
@given(
    st.sampled_from(["binpack", "spread"]),
    st.integers(2, 32),
    st.tuples(FILL, FILL, FILL, FILL),
    st.booleans(),
    st.data(),
)
def test_the_better_node_wins_whatever_the_rest_says(
    strategy: str, cards: int, fill: tuple[int, int, int, int], old: bool, data: st.DataObject
) -> None:
    """Over any fill of cpu and memory, with every other plugin for the other node."""
    profile = plan(DENSE._replace(strategy=strategy), (pool("a", cards=cards),)).profile
    allocatable = {"cpu": 100_000, "memory": 100 << 30, GPU: cards}
    low = data.draw(st.integers(0, cards - 2))
    high = data.draw(st.integers(low + 1, cards - 1))
    better, worse = (high, low) if strategy == "binpack" else (low, high)

    def node(used: int, cpu: int, memory: int, others: int) -> Node:
        taken = {"cpu": cpu * 990, "memory": memory * ((100 << 30) - (1 << 30)) // 100, GPU: used}
        return Node(allocatable, taken, dict.fromkeys(RIVALS, others))

    asked = {"cpu": 1000, "memory": 1 << 30, GPU: 1}
    first = total(profile, node(better, *fill[:2], 0), asked, old=old)
    assert first > total(profile, node(worse, *fill[2:], 100), asked, old=old)


@given(st.tuples(FILL, FILL), st.integers(0, 7))
def test_an_empty_node_of_the_preferred_usage_wins(fill: tuple[int, int], used: int) -> None:
    profile = plan(DENSE).profile
    allocatable = {"cpu": 100_000, "memory": 100 << 30, GPU: 8}
    taken = {"cpu": fill[0] * 990, "memory": fill[1] << 29, GPU: used}
    asked = {"cpu": 1000, "memory": 1 << 30, GPU: 1}
    preferred = Node(allocatable, {}, dict.fromkeys(RIVALS, 0), affinity=100)
    other = Node(allocatable, taken, dict.fromkeys(RIVALS, 100))
    assert total(profile, preferred, asked) > total(profile, other, asked)


WEIGHTS = st.builds(ResourcePlacement, st.sampled_from(["binpack", "spread"]), st.integers(1, 100))
SHAPES = st.dictionaries(st.integers(0, 100), st.integers(0, 10), max_size=4).map(
    lambda points: tuple(Point(*point) for point in sorted(points.items()))
)
PLACEMENTS = st.builds(
    Placement,
    st.just("p"),
    st.sampled_from(["binpack", "spread"]),
    st.dictionaries(st.sampled_from([GPU, "cpu", "memory"]), WEIGHTS),
    SHAPES,
    st.just(()),
    st.just("p-scheduler"),
)


@given(PLACEMENTS, st.lists(st.sampled_from([0, 1, 8, 16, 200]), max_size=2), st.integers(1, 300))
def test_any_placement_gives_a_valid_profile(placement: Placement, sizes: list[int], nodes: int) -> None:
    """One direction, weights that are taken, and everything read again as written."""
    kind = TRAINING._replace(scheduler="p-scheduler", placement_name="p")
    pools = tuple(pool(f"p{number}", nodes=nodes, cards=size) for number, size in enumerate(sizes))
    profile = plan(placement, pools, kinds=(kind,)).profile
    assert profile.fit is not None
    assert profile.fit.resources
    assert all(1 <= weight <= 100 for weight in profile.fit.resources.values())
    assert bool(profile.fit.shape) is (profile.fit.strategy == RATIO)
    assert all(1 <= weight < 2**31 for weight in profile.weights.values())
    whole = Configuration((profile,))
    assert read(write(whole)) == whole


VOLCANO = TargetSettings("volcano", scheduler_name="volcano")
BARE = DENSE._replace(scheduler="")
DEFAULT = DENSE._replace(scheduler="default-scheduler")
BY_DEFAULT = TRAINING._replace(scheduler="")


@pytest.mark.parametrize(
    ("placements", "stated", "fields", "way", "names"),
    [
        ((), SchedulerOptions(), {}, "second", []),
        ((DENSE,), SchedulerOptions(), {}, "second", ["dense-scheduler"]),
        ((DENSE, DENSE._replace(name="twin")), SchedulerOptions(), {}, "second", ["dense-scheduler"]),
        ((BARE,), SchedulerOptions(), {}, "second", []),
        ((DENSE,), SchedulerOptions("cluster"), {}, "cluster", ["default-scheduler", "dense-scheduler"]),
        ((BARE,), SchedulerOptions("cluster"), {}, "cluster", []),
        ((BARE,), SchedulerOptions("cluster", "dense"), {}, "cluster", ["default-scheduler"]),
        ((DEFAULT,), SchedulerOptions("cluster"), {}, "cluster", ["default-scheduler"]),
        ((DEFAULT,), SchedulerOptions(), {}, "second", []),
        ((DENSE,), SchedulerOptions("cluster"), {"provider": "gke"}, "second", ["dense-scheduler"]),
        ((DENSE._replace(scheduler="volcano"),), SchedulerOptions(), {"others": (VOLCANO,)}, "second", []),
        ((DENSE._replace(scheduler="koord-scheduler"),), SchedulerOptions(), {}, "second", []),
    ],
    ids=[
        "no placement",
        "a second scheduler",
        "one profile for a name",
        "no scheduler stated",
        "the cluster's own keeps its profile",
        "no profile, no configuration",
        "placement of the default",
        "default named outright",
        "default beside the cluster's own",
        "a managed control plane",
        "another system's",
        "another system's usual name",
    ],
)
def test_profiles(
    placements: tuple[Placement, ...],
    stated: SchedulerOptions,
    fields: dict[str, Any],
    way: str,
    names: list[str],
) -> None:
    made = planned(cluster(*placements, **fields), stated, parse("1.36"))
    assert (made.way, [profile.scheduler for profile in made.profiles]) == (way, names)


@pytest.mark.parametrize(
    ("placement", "stated", "fields", "said"),
    [
        (DENSE, SchedulerOptions(), {}, ()),
        (
            BARE,
            SchedulerOptions(),
            {"kinds": (BY_DEFAULT,)},
            (
                "placement dense has no scheduler, so it gets no profile: set its scheduler, or use it "
                "for default-scheduler with targets.kubernetes.scheduler.default and as: cluster",
            ),
        ),
        (BARE, SchedulerOptions(), {"kinds": (BY_DEFAULT,), "others": (VOLCANO,)}, ()),
        (
            DEFAULT,
            SchedulerOptions(),
            {},
            (
                "placement dense uses default-scheduler, which a second scheduler must not serve. "
                "Nearest: give the placement its own scheduler name,"
                " or set targets.kubernetes.scheduler.as: cluster",
            ),
        ),
        (
            DENSE._replace(scheduler="volcano"),
            SchedulerOptions(),
            {},
            (
                "placement dense: its scheduler volcano belongs to another system, so no "
                "kube-scheduler profile is written for it",
            ),
        ),
        (
            DENSE,
            SchedulerOptions("cluster"),
            {"provider": "aks"},
            (
                "the control plane of aks is managed, and its scheduler takes no configuration: a second "
                "scheduler is generated instead of targets.kubernetes.scheduler.as: cluster",
            ),
        ),
        (
            DENSE._replace(avoid=(GPU,)),
            SchedulerOptions(),
            {"pools": (pool("open"), pool("shut")._replace(taints=(Taint("k", "v", "NoSchedule"),)))},
            (
                "placement dense: kube-scheduler has no score that keeps other pods off nvidia.com/gpu. "
                "Nearest: a taint on its nodes"
                ": pool open has no such taint",
            ),
        ),
        (
            DENSE._replace(avoid=(GPU,)),
            SchedulerOptions(),
            {"pools": (pool("shut")._replace(taints=(Taint("k", "v", "NoSchedule"),)),)},
            (
                "placement dense: kube-scheduler has no score that keeps other pods off nvidia.com/gpu. "
                "Nearest: a taint on its nodes"
                ", which pool shut has",
            ),
        ),
        (
            DENSE._replace(avoid=(GPU,)),
            SchedulerOptions(),
            {"pools": tuple(pool(name)._replace(taints=(Taint("k", "v", "NoSchedule"),)) for name in "ab")},
            (
                "placement dense: kube-scheduler has no score that keeps other pods off nvidia.com/gpu. "
                "Nearest: a taint on its nodes"
                ", which pools a, "
                "b have",
            ),
        ),
        (
            DENSE._replace(avoid=(GPU,), scheduler=""),
            SchedulerOptions(),
            {"others": (VOLCANO,), "kinds": ()},
            (),
        ),
    ],
    ids=[
        "nothing",
        "no scheduler",
        "no scheduler beside Volcano",
        "default",
        "another's",
        "managed",
        "avoid an open pool",
        "avoid a tainted pool",
        "avoid tainted pools",
        "avoid by another system",
    ],
)
def test_notices_about_placements(
    placement: Placement, stated: SchedulerOptions, fields: dict[str, Any], said: tuple[str, ...]
) -> None:
    assert planned(cluster(placement, **fields), stated, parse("1.36")).notices == said


def test_weights_of_the_default_scheduler_are_known() -> None:
    made = planned(cluster(BARE), SchedulerOptions("cluster", "dense"), parse("1.36"))
    assert made.weights_default
    assert not planned(cluster(DENSE), SchedulerOptions("cluster"), parse("1.36")).weights_default
