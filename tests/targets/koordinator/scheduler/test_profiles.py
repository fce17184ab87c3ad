"""Profiles of placements: which placement a profile has, how its plugins score, and what is said."""

from __future__ import annotations

from contextlib import suppress
from functools import reduce
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policykit.errors import PolicykitError
from policykit.generator.artifact import TargetOutput
from policykit.manifests import writer
from policykit.manifests.patch import patched
from policykit.model.cluster import Cluster
from policykit.model.gang import GangRule
from policykit.model.queue import Preemption
from policykit.model.topology import TopologyAffinity
from policykit.model.workload import Placement, Point, ResourcePlacement, WorkloadKind
from policykit.targets.koordinator.generate import generate
from policykit.targets.koordinator.options import Fit
from policykit.targets.koordinator.scheduler import chart, configuration, merge, placements, profiles
from policykit.targets.koordinator.scheduler.configuration import Profile
from policykit.targets.koordinator.scheduler.profiles import Plan
from policykit.targets.koordinator.versions import parse
from tests.targets.koordinator import policies
from tests.targets.koordinator.checker import faults
from tests.targets.koordinator.policies import DENSE, GPU, NAME, SHAPED, WIDE

VERSIONS = ("1.4.1", "1.5.0", "1.6.1", "1.7.0", "1.8.0")


def planned(cluster: Cluster, version: str = "1.8.0") -> tuple[Plan, dict[str, Any]]:
    """The plan for the chart's configuration, and the configuration after."""
    data = chart.configuration(parse(version), chart.NAMESPACE)
    made = profiles.plan(cluster, cluster.targets["koordinator"], data, NAME, parse(version))
    return made, reduce(patched, made.patches, data)


def profile(data: dict[str, Any], name: str = NAME) -> Profile:
    (found,) = (each for each in configuration.read(data).profiles if each.name == name)
    return found


def args(found: Profile) -> dict[str, Any]:
    return {each.plugin: each.fields for each in found.args}


def weights(found: Profile) -> dict[str, int | None]:
    return {plugin.name: plugin.weight for plugin in found.points["score"].enabled}


def placed(*placements: Placement, **fields: Any) -> Cluster:
    kinds = tuple(
        WorkloadKind(p.name, scheduler=p.scheduler or NAME, placement=p.strategy, placement_name=p.name)
        for p in placements
    )
    schedulers = tuple(fields.pop("schedulers", ()))
    return policies.cluster(
        placements=placements, workloads=kinds, options=fields, schedulers=schedulers, preemption=Preemption()
    )


def said(generated: TargetOutput) -> list[str]:
    return [notice.message for notice in generated.notices]


def test_what_scores_otherwise_does_not_score() -> None:
    _, data = planned(placed(DENSE))
    found = profile(data)
    assert [each.name for each in found.points["score"].disabled] == [
        "NodeResourcesFit",
        "NodeResourcesBalancedAllocation",
    ]
    assert args(found)["DeviceShare"]["scoringStrategy"]["type"] == "MostAllocated"
    assert "NodeNUMAResource" not in args(found)


def test_cpu_packed_is_packed_by_numa_too() -> None:
    packed = Placement(
        "p", "binpack", {"cpu": ResourcePlacement("binpack", 3), "memory": ResourcePlacement("spread")}
    )
    _, data = planned(placed(packed))
    strategy = {"type": "MostAllocated", "resources": [{"name": "cpu", "weight": 3}]}
    assert args(profile(data))["NodeNUMAResource"] == {
        "scoringStrategy": strategy,
        "numaScoringStrategy": strategy,
    }


def test_options_beat_the_placement_and_that_is_said() -> None:
    spread = {"type": "LeastAllocated", "resources": [{"name": "koordinator.sh/rdma", "weight": 1}]}
    cluster = placed(DENSE, device_share={"scoringStrategy": spread})
    _, data = planned(cluster)
    assert args(profile(data))["DeviceShare"]["scoringStrategy"] == spread
    assert any(
        "the scoringStrategy that the policy sets for DeviceShare contradicts placement dense" in t
        for t in said(generate(cluster))
    )


@pytest.mark.parametrize(("version", "memory"), [("1.6.1", False), ("1.7.0", True)])
def test_devices_of_the_release(version: str, memory: bool) -> None:
    _, data = planned(placed(DENSE), version)
    names = [each["name"] for each in args(profile(data))["DeviceShare"]["scoringStrategy"]["resources"]]
    assert ("koordinator.sh/gpu-memory" in names) is memory
    assert "koordinator.sh/gpu-memory-ratio" in names


def test_avoiding_beats_packing_and_preference_beats_both() -> None:
    kind = WorkloadKind("k", ("a", "b"), {"a": 9}, scheduler=NAME, placement_name="dense")
    cluster = policies.cluster(placements=(DENSE,), workloads=(kind,), options={})
    made, data = planned(cluster)
    numbers = made.profiles[0].packing
    rivals = sum(rival.points for rival in numbers.rivals)
    assert 7 * numbers.avoidance > rivals + 100 * numbers.weight
    assert numbers.affinity is not None
    assert 100 * numbers.affinity > rivals + 100 * (numbers.weight + numbers.avoidance)
    there = weights(profile(data))
    assert there["ScarceResourceAvoidance"] == numbers.avoidance
    assert args(profile(data))["ScarceResourceAvoidance"] == {"resources": [GPU]}
    # Reservation stays above all of it.
    reservation = there["Reservation"]
    assert reservation is not None
    assert reservation * 100 > numbers.against_reservation


def test_a_stated_weight_of_avoidance() -> None:
    _, data = planned(placed(DENSE, scarce={"weight": 7, "resources": ["x.io/y"]}))
    assert weights(profile(data))["ScarceResourceAvoidance"] == 7
    assert args(profile(data))["ScarceResourceAvoidance"] == {"resources": [GPU, "x.io/y"]}


def test_a_profile_beside_the_targets_own() -> None:
    made, data = planned(placed(DENSE, WIDE, schedulers=["koord-wide"], load_aware={"weight": 3}))
    assert [each.name for each in made.profiles] == [NAME, "koord-wide"]
    wide, own = profile(data, "koord-wide"), profile(data)
    assert {each["type"] for each in args(wide)["NodeResourcesFitPlus"]["resources"].values()} == {
        "LeastAllocated"
    }
    assert "ScarceResourceAvoidance" not in args(wide)
    assert weights(wide)["LoadAwareScheduling"] == 3
    assert "scoringStrategy" not in args(wide)["DeviceShare"]
    for point in ("queueSort", "preEnqueue", "permit", "reserve", "bind"):
        assert wide.points[point] == own.points[point]


def test_a_profile_that_is_not_asked_for_is_kube_schedulers() -> None:
    _, data = planned(placed(DENSE, WIDE))
    assert [each["schedulerName"] for each in data["profiles"]] == [NAME]


def test_profiles_track_devices_separately() -> None:
    generated = generate(placed(DENSE, WIDE, schedulers=["koord-wide"]))
    assert any("profiles koord-scheduler, koord-wide each track devices" in text for text in said(generated))
    assert not any("each keep accounts" in text for text in said(generate(placed(DENSE))))


def test_two_placements_for_one_profile() -> None:
    other = DENSE._replace(name="other", strategy="spread")
    generated = generate(placed(DENSE, other))
    assert any(
        "placements dense, other have the same schedulerName, koord-scheduler" in text
        for text in said(generated)
    )
    assert any("workload kind other asks to be spread" in text for text in said(generated))


def test_a_placement_of_another_scheduler_has_no_effect() -> None:
    kind = WorkloadKind("web", scheduler=NAME, placement="spread", placement_name="wide")
    cluster = policies.cluster(placements=(WIDE,), workloads=(kind,), options={})
    assert (
        "workload kind web has scheduler koord-scheduler, but its placement wide has scheduler koord-wide, "
        "so the placement has no effect: remove one of the two schedulers"
    ) in said(generate(cluster))
    assert not any("does not place so" in text for text in said(generate(placed(DENSE, WIDE))))


def test_a_placement_that_names_the_profile_comes_first() -> None:
    own = DENSE._replace(name="own", scheduler=NAME)
    assert placements.profile_placement(placed(DENSE, own), NAME) == placements.ProfilePlacement(
        own, ("dense",)
    )


@pytest.mark.parametrize("version", ["1.5.0", "1.8.0"])
def test_a_shape_is_scored_by_the_tree(version: str) -> None:
    made, data = planned(placed(SHAPED), version)
    found = profile(data)
    assert args(found)["NodeResourcesFit"]["scoringStrategy"] == {
        "type": "RequestedToCapacityRatio",
        "resources": [{"name": GPU, "weight": 1}],
        "requestedToCapacityRatio": {
            "shape": [{"utilization": 0, "score": 0}, {"utilization": 100, "score": 10}]
        },
    }
    assert "NodeResourcesFitPlus" not in args(found)
    numbers = made.profiles[0].packing
    (margin,) = numbers.margins
    assert (margin.step, margin.points) == (1, 12)
    assert weights(found)["NodeResourcesFit"] == numbers.weight
    assert 12 * numbers.weight > sum(rival.points for rival in numbers.rivals)


def test_up_to_1_5_the_tree_packs_the_cards_alone() -> None:
    made, data = planned(placed(DENSE), "1.5.0")
    assert args(profile(data))["NodeResourcesFit"]["scoringStrategy"] == {
        "type": "MostAllocated",
        "resources": [{"name": GPU, "weight": 10}],
    }
    assert [each.name for each in profile(data).points["score"].disabled] == [
        "NodeResourcesBalancedAllocation"
    ]
    assert made.profiles[0].packing.left_out == ("cpu",)
    text = "\n".join(said(generate(policies.cluster("1.5.0"))))
    assert "because of Koordinator 1.5.0, which has no NodeResourcesFitPlus" in text
    assert "all its resources have the same type: cpu left out" in text
    assert "Koordinator 1.5.0 has no ScarceResourceAvoidance (added in 1.6.0)" in text


def test_spread_is_told_as_such() -> None:
    generated = generate(placed(WIDE._replace(scheduler="")))
    (page,) = (artifact.text for artifact in generated.artifacts if artifact.path.endswith("README.md"))
    assert "the node with 1 fewer in use scores at least" in page


def test_the_policys_own_fit_stays_above_its_placement() -> None:
    cluster = placed(DENSE, fit={GPU: {"type": "MostAllocated", "weight": 33}})
    _, data = planned(cluster)
    assert args(profile(data))["NodeResourcesFitPlus"]["resources"] == {
        GPU: {"type": "MostAllocated", "weight": 33}
    }


CPU = ResourcePlacement("binpack")
FITS = {
    "chosen, packed": (
        Placement("p", "binpack"),
        {GPU: 53, "cpu": -2, "memory": -1},
    ),
    "chosen, spread": (Placement("p", "spread"), {GPU: -53, "cpu": -2, "memory": -1}),
    "listed": (
        Placement(
            "p", "binpack", {GPU: ResourcePlacement("spread", 4), "cpu": ResourcePlacement("binpack", 2)}
        ),
        {GPU: -4, "cpu": 2},
    ),
    "a card that is not listed": (
        Placement("p", "spread", {"cpu": ResourcePlacement("binpack")}),
        {"cpu": 1, GPU: -18},
    ),
}


@pytest.mark.parametrize(("placement", "expected"), FITS.values(), ids=FITS)
def test_fit(placement: Placement, expected: dict[str, int]) -> None:
    """Packed positive, spread negative."""
    assert placements.fit(placement, {GPU: 8}) == {
        name: Fit("MostAllocated" if weight > 0 else "LeastAllocated", abs(weight))
        for name, weight in expected.items()
    }


def test_fit_without_cards() -> None:
    assert placements.fit(Placement("p", "binpack"), {}) == {
        "cpu": Fit("MostAllocated", 1),
        "memory": Fit("MostAllocated", 1),
    }


RESOURCES = st.sampled_from([GPU, "cpu", "memory", "koordinator.sh/gpu-memory-ratio", "koordinator.sh/rdma"])
STRATEGIES = st.sampled_from(["binpack", "spread"])
SHAPES = st.lists(st.integers(0, 10), min_size=2, max_size=3).map(
    lambda scores: tuple(Point(50 * at, score) for at, score in enumerate(scores))
)
PLACEMENTS = st.builds(
    Placement,
    st.sampled_from(["a", "b"]),
    STRATEGIES,
    st.dictionaries(RESOURCES, st.builds(ResourcePlacement, STRATEGIES, st.integers(1, 100)), max_size=3),
    st.just(()) | SHAPES,
    st.sampled_from([(), (GPU,), (GPU, "x.io/y")]),
    st.sampled_from(["", "koord-a", NAME]),
)
KINDS = st.builds(
    WorkloadKind,
    st.sampled_from(["one", "two"]),
    scheduler=st.sampled_from([NAME, "koord-a"]),
    gang=st.sampled_from(["all", "none", ""]),
    placement_name=st.sampled_from(["", "a", "b"]),
    gang_rule=st.none() | st.builds(GangRule, timeout=st.none() | st.integers(1, 2000)),
    within=st.none() | st.just(TopologyAffinity("rack")),
    prefer=st.sampled_from([{}, {"x": 5}]),
)
SECTIONS = st.fixed_dictionaries(
    {},
    optional={
        "load_aware": st.just({"weight": 4, "usageThresholds": {"cpu": 50}, "dominantResourceWeight": 3}),
        "coscheduling": st.just({"defaultTimeout": "2000s", "defaultMatchPolicy": "only-waiting"}),
        "elastic_quota": st.just({"enableMinQuotaScale": False}),
        "scarce": st.sampled_from([{"weight": 9}, {"resources": [GPU]}]),
        "numa": st.just({"defaultCPUBindPolicy": "SpreadByPCPUs"}),
    },
)
PREEMPTIONS = st.builds(
    Preemption, st.sampled_from([None, True, False]), st.sampled_from([None, True, False])
)
CLUSTERS = st.builds(
    lambda placements, kinds, options, schedulers, preemption: policies.cluster(
        placements=tuple(placements),
        workloads=tuple(kinds),
        options=options,
        schedulers=schedulers,
        preemption=preemption,
    ),
    st.lists(PLACEMENTS, max_size=2, unique_by=lambda each: each.name),
    st.lists(KINDS, max_size=2, unique_by=lambda each: each.name),
    SECTIONS,
    st.sampled_from([(), ("koord-a",)]),
    PREEMPTIONS,
)


def test_devices_that_a_placement_packs_are_not_spread_beside_one_that_it_spreads() -> None:
    listed = {
        "nvidia.com/gpu": ResourcePlacement("binpack", 1),
        "koordinator.sh/rdma": ResourcePlacement("spread", 2),
    }
    placement = Placement("mixed", "binpack", listed, scheduler="koord-a")
    _, data = planned(policies.cluster(placements=(placement,), options={}, schedulers=("koord-a",)), "1.6.1")
    assert faults(data, "1.6.1") == []


@settings(deadline=None, max_examples=100)
@given(CLUSTERS, st.sampled_from(VERSIONS))
def test_every_release_starts_with_what_any_policy_gives(cluster: Cluster, version: str) -> None:
    _, data = planned(cluster, version)
    assert faults(data, version) == []


@settings(deadline=None, max_examples=60)
@given(CLUSTERS, st.sampled_from(VERSIONS))
def test_merging_twice_is_merging_once(cluster: Cluster, version: str) -> None:
    _, data = planned(cluster, version)
    again = profiles.plan(cluster, cluster.targets["koordinator"], data, NAME, parse(version))
    assert again.patches == ()


def _config_map(generated: TargetOutput) -> str:
    name = "post-render/koord-scheduler-config.yaml"
    return "".join(artifact.text for artifact in generated.artifacts if artifact.path.endswith(name))


def test_the_text_is_what_the_data_says() -> None:
    _, data = planned(policies.cluster())
    assert merge.read_source(_config_map(generate(policies.cluster()))).data == data
    assert writer.dump(data)


ODD = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 3) | st.sampled_from(["*", "Reservation", "x", ""]),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(
            st.sampled_from(["name", "enabled", "disabled", "args", "score", "kind"]), inner, max_size=3
        )
    ),
    max_leaves=6,
)


@settings(deadline=None, max_examples=80)
@given(ODD, ODD, ODD, st.sampled_from(VERSIONS))
def test_no_given_file_is_an_error_of_ours(plugins: object, args: object, more: object, version: str) -> None:
    """It is merged into, or refused with a word for people."""
    given_ = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [{"schedulerName": NAME, "plugins": plugins, "pluginConfig": args}, more],
    }
    with suppress(PolicykitError):
        generate(policies.cluster(version, config=writer.dump(given_)))
