"""No configuration contradicts itself: table of each conflict, and any policy whatever."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from policykit.errors import PolicykitError
from policykit.generator.artifact import TargetOutput
from policykit.model.cluster import Cluster
from policykit.model.queue import PoolAffinity, Preemption, Queue
from policykit.model.topology import Level, TopologyAffinity
from policykit.model.workload import Placement, ResourcePlacement
from policykit.targets.volcano import versions
from policykit.targets.volcano.generate import generate
from policykit.targets.volcano.names import CONFIG_FILE, CONFIG_OVERRIDE
from policykit.targets.volcano.scheduler.arguments import option_problems
from tests.targets.volcano.clusters import GPU, INFERENCE, TRAINING, cluster
from tests.targets.volcano.conflicts import conflicts

METRICS = {"type": "prometheus", "address": "http://prometheus:9090"}
DESERVED = (Queue("a", deserved={GPU: 16}), Queue("b", deserved={GPU: 8}))
RACK = (Level("zone", "topology.kubernetes.io/zone"), Level("rack", "example.com/rack"))
NEAR = TRAINING._replace(within=TopologyAffinity("rack", hard=True))


def written(generated: TargetOutput) -> Any:
    data = yaml.safe_load(generated.artifacts[0].text)
    text = data["custom"][CONFIG_OVERRIDE] if "custom" in data else data["data"][CONFIG_FILE]
    return yaml.safe_load(text)


def tried(whole: Cluster) -> TargetOutput | None:
    """What is generated; None: its options are refused."""
    try:
        return generate(whole)
    except PolicykitError:
        return None


def made(preemption: Preemption, **parts: Any) -> Cluster:
    return cluster(**parts)._replace(preemption=preemption, levels=RACK)


BOTH = Preemption(True, True)


@pytest.mark.parametrize(
    ("preemption", "options", "message"),
    [
        pytest.param(
            Preemption(True),
            {"actions": ["allocate", "backfill"]},
            "preemption.withinQueue is true, but targets.volcano.actions lists neither preempt nor "
            "gangpreempt",
            id="preempt-wanted-and-not-listed",
        ),
        pytest.param(
            Preemption(reclaim=False),
            {"actions": ["allocate", "reclaim"]},
            "preemption.reclaim is false, but targets.volcano.actions lists reclaim",
            id="reclaim-listed-and-not-wanted",
        ),
        pytest.param(
            BOTH,
            {"plugins": {"gang": {"tier": 2, "flags": {"enablePreemptable": True}}}},
            "plugins gang and priority choose victims of preempt in different tiers: the first tier "
            "that finds any decides alone",
            id="2-gang-in-a-lower-tier",
        ),
        pytest.param(
            BOTH,
            {"plugins": {"drf": {"flags": {"enablePreemptable": True}}}},
            "plugins drf and priority choose victims of preempt in different tiers: the first tier "
            "that finds any decides alone",
            id="2-drf-decides-past-the-gang",
        ),
        pytest.param(
            BOTH,
            {"plugins": {"priority": {"enabled": False}}},
            "action preempt needs plugin priority with enablePreemptable and enableJobStarving: "
            "otherwise it evicts jobs of equal or higher priority, or none",
            id="3-no-priority",
        ),
        pytest.param(
            BOTH,
            {"plugins": {"priority": {"tier": 2}}},
            "plugins conformance and priority choose victims of preempt in different tiers: the "
            "first tier that finds any decides alone",
            id="3-priority-in-another-tier",
        ),
        pytest.param(
            Preemption(),
            {"plugins": {"capacity": {}, "proportion": {}}},
            "plugins capacity and proportion both limit queues",
            id="4-two-shares",
        ),
        pytest.param(
            Preemption(),
            {"plugins": {"proportion": {}, "drf": {"flags": {"enableHierarchy": True}}}},
            "plugin drf with enableHierarchy shares a tier with proportion: the scheduler discards "
            "the whole file",
            id="4-hdrf",
        ),
        pytest.param(
            BOTH,
            {"plugins": {"capacity": {"tier": 2}}},
            "plugins conformance and capacity choose victims of reclaim in different tiers: the "
            "first tier that finds any decides alone",
            id="4-capacity-is-never-asked",
        ),
        pytest.param(
            BOTH,
            {"plugins": {"capacity": {"flags": {"enableReclaimable": False}}}},
            "action reclaim needs plugin capacity or proportion with enableReclaimable and "
            "enablePreemptive: otherwise it evicts pods of queues that are within their share",
            id="4-reclaim-past-capacity",
        ),
        pytest.param(
            Preemption(),
            {"actions": ["allocate", "gangreclaim"], "plugins": {"proportion": {}}},
            "action gangreclaim needs plugin capacity to know the share of a queue: without it, pods "
            "of every other queue are evicted",
            id="4-gangreclaim-without-capacity",
        ),
        pytest.param(
            Preemption(),
            {"vgpu": True, "plugins": {"deviceshare": {"arguments": {"deviceshare.GPUNumberEnable": True}}}},
            "deviceshare.VGPUEnable and deviceshare.GPUNumberEnable are both true: the scheduler exits",
            id="5-two-ways-of-sharing",
        ),
        pytest.param(
            Preemption(),
            {"plugins": {"nodeorder": {"arguments": {"leastrequested.weight": 1}}}},
            "leastrequested.weight of nodeorder spreads pods that binpack packs: which one wins "
            "depends on the pod",
            id="6-leastrequested",
        ),
        pytest.param(
            Preemption(),
            {"plugins": {"resource-strategy-fit": {}}},
            "LeastAllocated of resource-strategy-fit spreads pods that binpack packs: which one wins "
            "depends on the pod",
            id="6-resource-strategy-fit-by-default",
        ),
        pytest.param(
            Preemption(),
            {"actions": ["allocate", "backfill"], "plugins": {"tdm": {}}},
            "plugin tdm selects pods to evict, but only action shuffle evicts them",
            id="7-no-shuffle",
        ),
        pytest.param(
            Preemption(),
            {"plugins": {"usage": {}}},
            "plugin usage needs the load of nodes, but no metrics are configured",
            id="7-no-metrics",
        ),
        pytest.param(
            Preemption(),
            {"plugins": {"network-topology-aware": {"enabled": False}}},
            "workload kind training must stay within one rack, but targets.volcano.plugins disables "
            "network-topology-aware",
            id="8-topology-without-its-plugin",
        ),
        pytest.param(
            Preemption(),
            {"plugins": {"network-topology-aware": {"flags": {"enabledHyperNodeGradient": False}}}},
            "workload kind training must stay within one rack, but targets.volcano.plugins disables "
            "network-topology-aware",
            id="8-topology-without-its-gradient",
        ),
    ],
)
def test_options_that_force_a_conflict(preemption: Preemption, options: Any, message: str) -> None:
    with pytest.raises(PolicykitError) as raised:
        generate(made(preemption, kinds=(NEAR, INFERENCE), queues=DESERVED, options=options))
    assert raised.value.message == message
    assert raised.value.hint


@pytest.mark.parametrize(
    ("version", "hard", "refused"),
    [
        ("1.12", True, False),
        ("1.13", True, False),
        ("1.14", True, True),
        ("1.12", False, True),
        ("1.13", False, True),
        ("1.15", False, True),
    ],
)
def test_hard_tiers_of_1_12_and_1_13_need_no_plugin(version: str, hard: bool, refused: bool) -> None:
    kind = TRAINING._replace(within=TopologyAffinity("rack", hard=hard))
    options = {"plugins": {"network-topology-aware": {"enabled": False}}}
    assert (tried(made(Preemption(), kinds=(kind,), options=options, version=version)) is None) == refused


FLAGGED = {
    "gang": ("enablePreemptable", "enableReclaimable", "enableJobStarving"),
    "priority": ("enablePreemptable", "enableJobStarving"),
    "drf": ("enablePreemptable", "enableHierarchy"),
    "tdm": ("enablePreemptable",),
    "pdb": ("enablePreemptable", "enableReclaimable"),
    "cdp": (),
    "conformance": ("enableReclaimable",),
    "capacity": ("enableReclaimable",),
    "proportion": ("enableReclaimable",),
    "overcommit": (),
    "sla": (),
    "usage": (),
    "rescheduling": (),
    "resourcequota": (),
    "binpack": (),
    "nodeorder": (),
    "resource-strategy-fit": (),
    "network-topology-aware": ("enabledHyperNodeGradient",),
    "deviceshare": (),
}
ARGUMENTS: dict[str, list[dict[str, Any]]] = {
    "binpack": [{"binpack.weight": 0}, {"binpack.weight": 7}],
    "nodeorder": [{"leastrequested.weight": 1}, {"mostrequested.weight": 3}],
    "resource-strategy-fit": [
        {"resources": {GPU: {"type": "MostAllocated", "weight": 3}}},
        {"resourceStrategyFitWeight": 0},
    ],
    "deviceshare": [{"deviceshare.GPUNumberEnable": True}, {"deviceshare.VGPUEnable": True}],
}


@st.composite
def plugin_options(draw: st.DrawFn) -> dict[str, Any]:
    names = draw(st.lists(st.sampled_from(sorted(FLAGGED)), unique=True, max_size=3))
    return {
        name: {
            **({"enabled": False} if draw(st.integers(0, 3)) == 0 else {}),
            **draw(st.sampled_from([{}, {}, {"tier": 1}, {"tier": 2}])),
            "flags": draw(st.dictionaries(st.sampled_from(FLAGGED[name]), st.booleans(), max_size=2))
            if FLAGGED[name]
            else {},
            "arguments": draw(st.sampled_from([{}, *ARGUMENTS.get(name, [])])),
        }
        for name in names
    }


@st.composite
def options(draw: st.DrawFn) -> dict[str, Any]:
    stated: dict[str, Any] = {"plugins": draw(plugin_options())} if draw(st.booleans()) else {}
    if draw(st.integers(0, 3)) == 0:
        more = draw(st.lists(st.sampled_from(sorted(ACTIONS)), unique=True))
        stated["actions"] = ["allocate", *more]
    if draw(st.booleans()):
        stated["metrics"] = METRICS
    if draw(st.integers(0, 4)) == 0:
        stated["vgpu"] = True
    return stated


ACTIONS = ("enqueue", "backfill", "reclaim", "preempt", "gangpreempt", "gangreclaim", "shuffle")
STRATEGIES = st.sampled_from(["binpack", "spread"])
PLACEMENTS = st.builds(
    Placement,
    st.just("p"),
    STRATEGIES,
    st.dictionaries(
        st.sampled_from(["cpu", "memory", GPU]), st.builds(ResourcePlacement, STRATEGIES, st.integers(1, 100))
    ),
    st.just(()),
    st.sampled_from([(), (GPU,), (GPU, "rdma/hca")]),
    st.just(""),
)
QUEUES = st.sampled_from(
    [
        (),
        DESERVED,
        (Queue("a", weight=3),),
        (Queue("a", deserved={GPU: 8}), Queue("b", "a", deserved={GPU: 8})),
        (Queue("a", pools=PoolAffinity(("train-h20",))),),
    ]
)
MAYBE = st.sampled_from([None, True, False])
KINDS = st.sampled_from([(TRAINING, INFERENCE), (NEAR, INFERENCE), ()])
VERSIONS = [f"1.{minor}" for minor in range(8, 16)]


@settings(deadline=None, max_examples=400)
@given(st.builds(Preemption, MAYBE, MAYBE), QUEUES, KINDS, PLACEMENTS, st.sampled_from(VERSIONS), options())
def test_no_configuration_contradicts_itself(
    preemption: Preemption,
    queues: Any,
    kinds: Any,
    placement: Placement,
    version: str,
    stated: dict[str, Any],
) -> None:
    kinds = tuple(kind._replace(placement_name="p") for kind in kinds)
    if next(option_problems(stated, versions.parse(version)), None):
        return  # Such a policy does not compile.
    whole = made(preemption, kinds=kinds, queues=queues, version=version, options=stated)
    whole = whole._replace(placements={"p": placement})
    generated = tried(whole)
    if generated is None:
        assert stated
        return
    release = versions.parse(version)
    assert list(conflicts(written(generated), release, topology=any(k.within for k in kinds))) == []


@settings(deadline=None, max_examples=100)
@given(st.builds(Preemption, MAYBE, MAYBE), QUEUES, KINDS, PLACEMENTS, st.sampled_from(VERSIONS))
def test_the_policys_own_words_never_fail(
    preemption: Preemption, queues: Any, kinds: Any, placement: Placement, version: str
) -> None:
    kinds = tuple(kind._replace(placement_name="p") for kind in kinds)
    whole = made(preemption, kinds=kinds, queues=queues, version=version)._replace(
        placements={"p": placement}
    )
    data = written(generate(whole))
    assert ("preempt" in data["actions"]) is bool(preemption.within_queue)
    assert ("reclaim" in data["actions"]) is bool(preemption.reclaim)


BROKEN: dict[str, tuple[dict[str, Any], str]] = {
    "as compiled in, with preempt": (
        {
            "actions": "allocate, preempt",
            "tiers": [
                {"plugins": [{"name": "priority"}, {"name": "gang", "enablePreemptable": False}]},
                {"plugins": [{"name": "drf"}]},
            ],
        },
        "preempt decided outside priority's tier",
    ),
    "as Volcano's guide to capacity": (
        {
            "actions": "allocate, backfill, reclaim",
            "tiers": [
                {"plugins": [{"name": "priority"}, {"name": "conformance"}]},
                {"plugins": [{"name": "capacity"}]},
            ],
        },
        "reclaim decided outside the tier of capacity or proportion",
    ),
    "the chart's own scores": (
        {
            "actions": "enqueue, allocate, backfill",
            "tiers": [{"plugins": [{"name": "nodeorder"}, {"name": "binpack"}]}],
        },
        "packing beside leastrequested",
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_the_checker_itself_sees_conflicts(name: str) -> None:
    data, expected = BROKEN[name]
    assert expected in list(conflicts(data, (1, 15, 1)))
