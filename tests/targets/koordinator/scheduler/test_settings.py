"""What gangs, queues, topology and options require of the plugins, release by release."""

from typing import Any

import pytest

from policykit.errors import PolicykitError
from policykit.model.cluster import Cluster
from policykit.model.gang import GangRule
from policykit.model.queue import Preemption, Queue, Reservation
from policykit.model.topology import TopologyAffinity
from policykit.model.workload import WorkloadKind
from policykit.targets.koordinator.options import koordinator_options as of_target
from policykit.targets.koordinator.scheduler import fields
from policykit.targets.koordinator.scheduler.settings import Settings, check_load_aware, plugin_settings
from policykit.targets.koordinator.versions import parse
from tests.targets.koordinator import policies
from tests.targets.koordinator.policies import NAME

KIND = WorkloadKind("training", scheduler=NAME, gang="all")
NOTHING = policies.cluster(placements=(), workloads=(), options={}, preemption=Preemption(), queues=())


def required(cluster: Cluster, version: str = "1.8.0") -> Settings:
    options = of_target(cluster.targets["koordinator"])
    return plugin_settings(cluster, (NAME,), options, parse(version))


def koordinator_options(*kinds: WorkloadKind, **fields: Any) -> Cluster:
    return NOTHING._replace(workloads={kind.name: kind for kind in kinds}, **fields)


def stating(**sections: Any) -> Cluster:
    return policies.cluster(placements=(), workloads=(), options=sections, preemption=Preemption(), queues=())


def test_nothing() -> None:
    assert required(NOTHING) == Settings()


def test_a_gang_without_a_word_of_its_time() -> None:
    assert required(koordinator_options(KIND)) == Settings(plugins=("Coscheduling",))


def test_the_longest_gang_decides() -> None:
    other = KIND._replace(name="other", gang_rule=GangRule(timeout=60))
    made = required(koordinator_options(KIND._replace(gang_rule=GangRule(timeout=600)), other))
    assert made == Settings({"Coscheduling": {"defaultTimeout": "600s"}}, ("Coscheduling",))


def test_no_gang_waits_longer_than_the_framework() -> None:
    made = required(koordinator_options(KIND._replace(gang_rule=GangRule(timeout=1200))))
    assert made.args == {"Coscheduling": {"defaultTimeout": "900s"}}
    assert made.notices == (
        "gangs of training may wait up to 1200 s, but koord-scheduler ends every wait after 900 s: 900 s is "
        "written",
    )


def test_nor_does_an_option() -> None:
    made = required(stating(coscheduling={"defaultTimeout": "1200s"}))
    assert made.args == {"Coscheduling": {"defaultTimeout": "900s"}}
    assert made.notices[0].startswith("coscheduling.defaultTimeout is 1200 s")


def test_an_option_beats_what_follows_from_the_policy() -> None:
    cluster = stating(coscheduling={"defaultTimeout": "60s"})
    kind = KIND._replace(gang_rule=GangRule(timeout=600))
    made = required(cluster._replace(workloads={"training": kind}))
    assert made.args == {"Coscheduling": {"defaultTimeout": "60s"}}


def test_gangs_of_another_scheduler_say_nothing() -> None:
    assert (
        required(koordinator_options(KIND._replace(scheduler="volcano", gang_rule=GangRule(timeout=600))))
        == Settings()
    )


@pytest.mark.parametrize(("version", "aware"), [("1.6.1", False), ("1.7.0", True), ("1.8.0", True)])
def test_closeness(version: str, aware: bool) -> None:
    made = required(koordinator_options(KIND._replace(within=TopologyAffinity("rack"))), version)
    assert made.args == ({"Coscheduling": {"awareNetworkTopology": True}} if aware else {})
    assert made.notices == (
        ()
        if aware
        else (
            "workload kinds training stay within a topology level, which Koordinator 1.6.1 does not support "
            "(added in 1.7). The closest alternative is pod affinity with the level's topologyKey",
        )
    )


@pytest.mark.parametrize("reclaim", [True, False])
def test_reclaim(reclaim: bool) -> None:
    made = required(NOTHING._replace(preemption=Preemption(reclaim=reclaim)))
    assert made == Settings({"ElasticQuota": {"monitorAllQuotas": reclaim}}, ("ElasticQuota",))


@pytest.mark.parametrize(("version", "args"), [("1.6.1", {}), ("1.8.0", {"enablePreemption": False})])
def test_no_preemption(version: str, args: dict[str, Any]) -> None:
    made = required(NOTHING._replace(preemption=Preemption(within_queue=False)), version)
    assert made.args.get("Coscheduling", {}) == args
    assert made.disabled == (("postFilter", "ElasticQuota"), ("postFilter", "DefaultPreemption"))
    assert made.notices[0].startswith("preemption.withinQueue: false turns off all preemption")


def test_queues_and_reservations_need_their_plugins() -> None:
    kind = WorkloadKind("web", scheduler=NAME, queue="a")
    cluster = koordinator_options(kind, queues=(Queue("a"),), reservations=(Reservation("r", {"cpu": 1}),))
    assert required(cluster).plugins == ("Reservation", "ElasticQuota")


@pytest.mark.parametrize(
    ("section", "field", "version", "when"),
    [
        ("load_aware", "dominantResourceWeight", "1.6.1", " (added in 1.7)"),
        ("elastic_quota", "enableQueueHint", "1.7.0", " (added in 1.8)"),
        ("device_share", "gpuShareUnsupportedModels", "1.7.0", " (added in 1.8)"),
        ("device_share", "disableDeviceNUMATopologyAlignment", "1.4.1", " (added in 1.5)"),
        ("numa", "fullPCPUs", "1.8.0", ""),
    ],
)
def test_fields_of_newer_releases_are_left_out(section: str, field: str, version: str, when: str) -> None:
    made = required(stating(**{section: {field: 1}}), version)
    assert made.args == {}
    plugin = fields.SECTIONS[section][1]
    assert made.notices == (f"Koordinator {version} has no field {field} in {plugin}Args{when}: left out",)


def test_limits_of_parents_without_runtime_quotas() -> None:
    queues = (Queue("a", limit={"cpu": 1}), Queue("b", "a"))
    unchecked = stating(elastic_quota={"enableRuntimeQuota": False})._replace(queues=queues)
    assert required(unchecked).notices == (
        "limits of a do not apply to their child queues: enableRuntimeQuota is false, and parents are not "
        "checked. Set elasticQuota.enableCheckParentQuota: true",
    )
    both = {"enableRuntimeQuota": False, "enableCheckParentQuota": True}
    assert required(stating(elastic_quota=both)._replace(queues=queues)).notices == ()


@pytest.mark.parametrize(
    ("stated", "given"),
    [
        ({"resourceWeights": {"x.io/y": 1}}, {}),
        (
            {"resourceWeights": {"x.io/y": 1}, "estimatedScalingFactors": {}},
            {"estimatedScalingFactors": {"x.io/y": 1}},
        ),
        ({}, {"resourceWeights": {"x.io/y": 1}}),
    ],
)
def test_a_weight_without_a_factor_stops_the_scheduler(stated: dict[str, Any], given: dict[str, Any]) -> None:
    with pytest.raises(PolicykitError, match=r"resourceWeights of LoadAwareScheduling has x\.io/y"):
        check_load_aware(stated, given)


def test_weights_with_factors() -> None:
    check_load_aware({"resourceWeights": {"cpu": 1, "memory": 2}}, {})
    check_load_aware({"resourceWeights": {"x.io/y": 1}}, {"estimatedScalingFactors": {"x.io/y": 50}})
