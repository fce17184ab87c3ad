"""What the policy asks for, and the plugins and actions that each release has for it."""

from __future__ import annotations

from typing import Any

import pytest

from policykit.generator.artifact import TargetOutput
from policykit.model.cluster import Cluster
from policykit.model.queue import PoolAffinity, Preemption, Queue, Reservation
from policykit.model.topology import TopologyAffinity, TopologySpread
from policykit.model.workload import Autoscaling
from policykit.targets.volcano.generate import generate
from policykit.targets.volcano.scheduler.configuration import Configuration, Plugin
from tests.targets.volcano.clusters import GPU, INFERENCE, POOLS, TRAINING, cluster
from tests.targets.volcano.scheduler.test_validator import BOTH, DESERVED, METRICS, NEAR, made
from tests.targets.volcano.test_generate import configuration, messages

NOTHING = Preemption()
GROUPED = (Queue("a", pools=PoolAffinity(("train-h20",))),)


def generated(preemption: Preemption = NOTHING, **parts: Any) -> TargetOutput:
    return generate(made(preemption, **parts))


def planned(preemption: Preemption = NOTHING, **parts: Any) -> Configuration:
    return configuration(generated(preemption, **parts))


def tiers(configured: Configuration) -> list[str]:
    return [" ".join(plugin.name for plugin in tier) for tier in configured.tiers]


@pytest.mark.parametrize(
    ("preemption", "options", "actions"),
    [
        (NOTHING, {}, "enqueue allocate backfill"),
        (Preemption(False, False), {}, "enqueue allocate backfill"),
        (Preemption(within_queue=True), {}, "allocate backfill preempt"),
        (Preemption(reclaim=True), {}, "allocate backfill reclaim"),
        (BOTH, {}, "allocate backfill reclaim preempt"),
        (NOTHING, {"actions": ["shuffle", "backfill", "allocate"]}, "allocate backfill shuffle"),
        (BOTH, {"actions": ["gangreclaim", "gangpreempt", "allocate"]}, "allocate gangreclaim gangpreempt"),
        (NOTHING, {"plugins": {"tdm": {}}}, "enqueue allocate backfill shuffle"),
        (
            BOTH,
            {"plugins": {"rescheduling": {}}, "metrics": METRICS},
            "allocate backfill reclaim preempt shuffle",
        ),
    ],
    ids=str,
)
def test_actions(preemption: Preemption, options: dict[str, Any], actions: str) -> None:
    assert " ".join(planned(preemption, queues=DESERVED, options=options).actions) == actions


def test_tiers_with_nothing_asked() -> None:
    assert tiers(planned()) == [
        "priority gang conformance",
        "overcommit drf predicates proportion nodeorder binpack",
    ]


def test_tiers_where_pods_make_room() -> None:
    configured = planned(BOTH, queues=DESERVED)
    assert tiers(configured) == [
        "priority gang conformance capacity",
        "drf predicates nodeorder binpack",
    ]
    assert configured.plugin("gang") == Plugin(
        "gang", {"enablePreemptable": False, "enableReclaimable": False, "enableJobStarving": False}
    )
    within = planned(Preemption(within_queue=True), queues=DESERVED)
    assert tiers(within)[1] == "drf predicates capacity nodeorder binpack"
    assert within.plugin("gang") == Plugin("gang", {"enablePreemptable": False, "enableJobStarving": False})
    assert planned(queues=DESERVED).plugin("gang") == Plugin("gang", {"enablePreemptable": False})


def test_a_gang_that_guards_its_pods_stands_last() -> None:
    guard = {
        "plugins": {"gang": {"flags": {"enablePreemptable": True, "enableReclaimable": True}}, "pdb": {}}
    }
    configured = planned(BOTH, queues=DESERVED, options=guard)
    assert tiers(configured)[0] == "priority conformance capacity pdb gang"
    assert tiers(planned(queues=DESERVED, options=guard))[0] == "priority gang conformance pdb"


def test_victims_are_chosen_in_the_first_tier_only() -> None:
    configured = planned(Preemption(within_queue=True), options={"plugins": {"tdm": {}, "cdp": {}}})
    assert tiers(configured)[0] == "priority gang conformance cdp"
    assert configured.plugin("tdm") == Plugin("tdm", {"enablePreemptable": False})
    assert planned(options={"plugins": {"tdm": {}}}).plugin("tdm") == Plugin("tdm")


@pytest.mark.parametrize(
    ("version", "flags"),
    [("1.12", None), ("1.13", {"strict": False}), ("", {"strict": False})],
)
def test_pools_of_queues_bring_node_groups(version: str, flags: dict[str, bool] | None) -> None:
    assert planned(queues=GROUPED, version=version).plugin("nodegroup") == Plugin(
        "nodegroup", {}, flags or {}
    )
    assert planned(queues=DESERVED, version=version).plugin("nodegroup") is None
    assert planned(queues=GROUPED, version="1.8").plugin("nodegroup") is None


def test_node_groups_count_among_what_packing_outweighs() -> None:
    text = generated(queues=GROUPED).artifacts[0].text
    assert (
        "#   where 8 = tainttoleration 3 + imagelocality 1 + podtopologyspread 2 +\n    #     nodegroup 2"
        in text
    )


def test_plugins_of_the_options_count_too() -> None:
    stated = {"plugins": {"usage": {"arguments": {"usage.weight": 7}}}, "metrics": METRICS}
    text = generated(options=stated).artifacts[0].text
    assert (
        "#   where 13 = tainttoleration 3 + imagelocality 1 + podtopologyspread 2 +\n    #     usage 7"
        in text
    )


NORMAL = {"hypernode.binpack.normal-pod.enable": False}


def test_closeness() -> None:
    kinds = (NEAR, INFERENCE)
    assert planned(kinds=kinds).plugin("network-topology-aware") == Plugin(
        "network-topology-aware",
        {},
        {
            "weight": 219,
            "hypernode.binpack.cpu": 1,
            "hypernode.binpack.memory": 1,
            "hypernode.binpack.resources": GPU,
            f"hypernode.binpack.resources.{GPU}": 32,
            "hypernode.binpack.normal-pod.enable": False,
        },
    )
    assert planned(kinds=kinds, version="1.12").plugin("network-topology-aware") == Plugin(
        "network-topology-aware", {}, {"weight": 110}
    )
    assert planned(kinds=kinds, version="1.11").plugin("network-topology-aware") is None
    text = generated(kinds=kinds).artifacts[0].text
    assert "#   network-topology-aware 219 x 1/2 = 109.50 > 109" in text
    assert "#   nodeaffinity 548 x 100/100 = 548.00 > 547" in text
    assert "podtopologyspread 2 + twice network-topology-aware 438" in text


def test_vgpus() -> None:
    plugin = planned(options={"vgpu": True}).plugin("deviceshare")
    assert plugin == Plugin(
        "deviceshare",
        {},
        {
            "deviceshare.VGPUEnable": True,
            "deviceshare.GPUSharingEnable": False,
            "deviceshare.GPUNumberEnable": False,
            "deviceshare.SchedulePolicy": "binpack",
            "deviceshare.ScheduleWeight": 7,
        },
    )
    spread = (TRAINING._replace(placement="spread"),)
    made_spread = planned(options={"vgpu": True}, kinds=spread).plugin("deviceshare")
    assert made_spread
    assert made_spread.arguments["deviceshare.SchedulePolicy"] == "spread"


@pytest.mark.parametrize(
    ("plugins", "queues", "sharing"),
    [
        ({"capacity": {}}, (), Plugin("capacity")),
        ({"proportion": {}}, DESERVED, Plugin("proportion")),
        ({"capacity": {"enabled": False}}, DESERVED, Plugin("proportion")),
        ({"proportion": {"enabled": False}}, (), None),
        (
            {"capacity": {"arguments": {"ancestorReclaimLevel": 1}}},
            (),
            Plugin("capacity", {}, {"ancestorReclaimLevel": 1}),
        ),
    ],
    ids=str,
)
def test_the_policy_may_choose_how_queues_share(plugins: Any, queues: Any, sharing: Plugin | None) -> None:
    configured = planned(queues=queues, options={"plugins": plugins})
    there = [p for tier in configured.tiers for p in tier if p.name in ("capacity", "proportion")]
    assert there == ([sharing] if sharing else [])


def test_plugins_are_added_changed_moved_and_taken_out() -> None:
    stated = {
        "sla": {"arguments": {"sla-waiting-time": "1h"}},
        "conformance": {"enabled": False},
        "gang": {"flags": {"enableJobOrder": False}},
        "overcommit": {"arguments": {"overcommit-factor": 1.5}},
        "drf": {"tier": 1},
        "resourcequota": {},
    }
    configured = planned(options={"plugins": stated})
    assert tiers(configured) == [
        "priority gang sla drf",
        "overcommit predicates proportion nodeorder binpack resourcequota",
    ]
    assert configured.plugin("gang") == Plugin("gang", {"enablePreemptable": False, "enableJobOrder": False})
    assert configured.plugin("overcommit") == Plugin("overcommit", {}, {"overcommit-factor": 1.5})


def test_metrics_and_configurations_are_written() -> None:
    stated = {
        "metrics": METRICS,
        "plugins": {"usage": {}},
        "configurations": {"allocate": {"predicateErrorCacheEnable": False}},
    }
    configured = planned(options=stated)
    assert configured.metrics == METRICS
    assert configured.configurations == {"allocate": {"predicateErrorCacheEnable": False}}


GANG = (
    "action reclaim and preempt may evict single pods of a gang, which then runs with fewer pods or "
    "restarts, depending on its own policies: if plugin gang guarded them, no complete gang could be "
    "evicted at all. To keep gangs complete, set the gang flags enablePreemptable and "
    "enableReclaimable to true in targets.volcano.plugins, or use gangpreempt and gangreclaim (1.15, "
    "alpha)"
)


def growing(kinds: Any) -> Cluster:
    pools = (POOLS[0]._replace(autoscaled=True), *POOLS[1:])
    return cluster(pools=pools, kinds=kinds)


@pytest.mark.parametrize(
    ("whole", "said"),
    [
        pytest.param(made(BOTH, queues=DESERVED), [GANG], id="gangs-lose-pods"),
        pytest.param(
            made(BOTH, queues=DESERVED, kinds=(NEAR,))._replace(levels=()),
            [
                GANG,
                "action preempt makes no room for jobs of training: it skips jobs with a network topology",
            ],
            id="preempt-and-topology",
        ),
        pytest.param(
            made(BOTH, queues=DESERVED, kinds=(NEAR,), version="1.13")._replace(levels=()),
            [
                GANG,
                "action preempt of Volcano 1.13.3 evicts pods for jobs of training without regard to their "
                "network topology: the room it makes may be too far apart for them. Since 1.14.0 it skips "
                "them",
            ],
            id="preempt-and-topology-before-1.14",
        ),
        pytest.param(
            made(NOTHING, kinds=(TRAINING._replace(within=TopologyAffinity("zone")),), version="1.13"),
            [
                "workload kind training prefers to stay within one zone, the widest level, which Volcano "
                "1.13.3 does not score: nodes of one zone are no better than others. Nearest: upgrade to "
                "1.14.0, or add a wider level",
                "no pool has a topology, so no HyperNodes are written: set topology on the pools, or let the "
                "controller discover them by the labels topology.kubernetes.io/zone, example.com/rack, "
                "kubernetes.io/hostname last",
            ],
            id="widest-level-before-1.14",
        ),
        pytest.param(
            made(Preemption(reclaim=True), queues=DESERVED, options={"plugins": {"pdb": {}, "cdp": {}}}),
            [
                GANG.replace("reclaim and preempt", "reclaim"),
                "plugins pdb, cdp all protect pods from eviction: if one of them rejects every "
                "victim left by the others, Volcano starts over with the next one, so a pod may be "
                "evicted although one of them protects it",
            ],
            id="two-guards",
        ),
        pytest.param(
            made(
                Preemption(within_queue=True),
                options={"plugins": {"gang": {"enabled": False}, "resourcequota": {}}},
            ),
            [
                "plugin resourcequota acts only in action enqueue, which the configuration leaves out",
            ],
            id="idle-plugin",
        ),
        pytest.param(
            made(NOTHING, options={"configurations": {"preempt": {"predicateErrorCacheEnable": True}}}),
            ["configurations of action preempt have no effect: the actions do not include it"],
            id="idle-configuration",
        ),
        pytest.param(
            made(NOTHING, options={"actions": ["enqueue", "allocate"]}),
            ["the actions do not include backfill: pods that request nothing stay pending forever"],
            id="no-backfill",
        ),
        pytest.param(
            made(NOTHING, queues=DESERVED, options={"plugins": {"proportion": {}}}),
            ["plugin proportion shares by weight: deserved amounts and queue trees have no effect"],
            id="proportion-by-choice",
        ),
        pytest.param(
            growing((TRAINING._replace(autoscaling=Autoscaling(4)),)),
            [
                "pool train-h20 grows when pods are pending, but action enqueue admits no job, and "
                "so creates no pods, that the existing nodes cannot hold. Set "
                "targets.volcano.actions to allocate, backfill if waiting jobs should bring new nodes"
            ],
            id="autoscaled-pool",
        ),
        pytest.param(made(BOTH, queues=DESERVED, kinds=(TRAINING._replace(gang="none"),)), [], id="no-gangs"),
        pytest.param(
            made(NOTHING, options={"plugins": {"nodeorder": {"arguments": {"imagelocality.weight": 9}}}}),
            [
                "plugin nodeorder: targets.volcano.plugins sets imagelocality.weight, so what the "
                "comments say about the scores may not hold"
            ],
            id="own-weights",
        ),
        pytest.param(
            cluster()._replace(
                reservations=(
                    Reservation("eval", {GPU: 8}),
                    Reservation("nightly", {GPU: 8}, workload="training"),
                    Reservation("elsewhere", {GPU: 8}, workload="batch"),
                )
            ),
            [
                "reservation eval, nightly has no effect: Volcano cannot reserve capacity for future pods. "
                "Nearest: a guarantee on the tenant's queue, with reclaim"
            ],
            id="reservations",
        ),
        pytest.param(growing((TRAINING,)), [], id="autoscaled-pool-in-a-policy-without-new-words"),
        pytest.param(
            made(NOTHING, kinds=(TRAINING._replace(across=TopologySpread("zone")),)),
            [
                "across of training is a preference, and packing outweighs it. If the pods must be "
                "apart, set mode: hard"
            ],
            id="soft-spread",
        ),
        pytest.param(
            made(NOTHING, kinds=(TRAINING._replace(across=TopologySpread("zone", hard=True)),)),
            [],
            id="hard-spread",
        ),
    ],
)
def test_what_is_lost_is_said(whole: Cluster, said: list[str]) -> None:
    assert messages(generate(whole)) == said


def test_why_enqueue_is_left_out() -> None:
    text = generated(Preemption(within_queue=True)).artifacts[0].text
    assert (
        "    # enqueue is left out: preempt cannot help jobs it does not admit.\n"
        "    # So every waiting job has its pods, a cluster autoscaler sees them, and\n"
        "    # overcommit and resourcequota, which act in enqueue, hold back none.\n"
        "    actions: allocate, backfill, preempt\n"
    ) in text


def test_the_page_names_topology_and_node_groups() -> None:
    pools = tuple(
        pool._replace(
            shapes=tuple(
                shape._replace(labels={"example.com/rack": "r1"}, node_names=("n-1",))
                for shape in pool.shapes
            )
        )
        for pool in POOLS
    )
    found = generated(queues=GROUPED, kinds=(NEAR,), pools=pools)
    assert [artifact.path for artifact in found.artifacts] == [
        "volcano/values.yaml",
        "volcano/queues.yaml",
        "volcano/hypernodes.yaml",
        "volcano/nodegroups.sh",
        "volcano/README.md",
    ]
    page = found.artifacts[-1].text
    assert "- `hypernodes.yaml`: " in page
    assert "- `nodegroups.sh`: " in page


def test_within_is_read_of_kinds_that_volcano_serves() -> None:
    other = NEAR._replace(scheduler="koord-scheduler", within=TopologyAffinity("rack"))
    assert planned(kinds=(other,)).plugin("network-topology-aware") is None
