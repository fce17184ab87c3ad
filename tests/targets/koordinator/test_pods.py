"""What pods carry for Koordinator: gang, quota and class."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policykit.model.cluster import Cluster, TargetSettings
from policykit.model.gang import GangRule
from policykit.model.pod_fields import JobPods, PodContext, PodFields
from policykit.model.queue import Queue
from policykit.model.topology import Level, TopologyAffinity
from policykit.model.workload import WorkloadKind
from policykit.targets.koordinator import pods
from policykit.targets.koordinator.pods import Gang, GatherStrategy, fields
from tests.targets.koordinator.crds import needs_crds, problems
from tests.targets.koordinator.options import koordinator_options
from tests.targets.koordinator.strategies import NAMES

PREFIX = "gang.scheduling.koordinator.sh/"
GROUP = "pod-group.scheduling.sigs.k8s.io"
ONE = PodContext("job", "Job", "team", "", (JobPods("", 4),))
TWO = PodContext("job", "PyTorchJob", "team", "worker", (JobPods("master", 1), JobPods("worker", 3)))


def cluster(version: str = "", **options: Any) -> Cluster:
    return Cluster(
        "c",
        (),
        workloads={"train": WorkloadKind("train")},
        queues=(Queue("team-a"),),
        targets={
            "koordinator": TargetSettings("koordinator", version, options=koordinator_options(**options))
        },
        levels=(Level("zone", "z"), Level("rack", "r")),
    )


def kind(gang: str = "all", **more: Any) -> WorkloadKind:
    return WorkloadKind("train", gang=gang, scheduler="koord-scheduler", **more)


def test_one_template_states_its_gang_itself() -> None:
    assert fields(kind(), cluster(), ONE) == PodFields(
        annotations={f"{PREFIX}name": "job", f"{PREFIX}min-available": "4"}
    )


def test_one_template_has_a_group_where_the_policy_asks_for_objects() -> None:
    options = koordinator_options()._replace(gang_objects=True)
    there = cluster()
    there = there._replace(targets={"koordinator": TargetSettings("koordinator", options=options)})
    made = fields(kind(), there, ONE)
    assert (made.labels, made.annotations) == ({GROUP: "job"}, {})
    assert [(each["kind"], each["spec"]) for each in made.objects] == [("PodGroup", {"minMember": 4})]


def test_several_templates_have_a_group() -> None:
    made = fields(kind(gang_rule=GangRule(3, 600, "wait")), cluster(), TWO)
    assert made == PodFields(
        {GROUP: "job"},
        objects=(
            {
                "apiVersion": "scheduling.sigs.k8s.io/v1alpha1",
                "kind": "PodGroup",
                "metadata": {
                    "name": "job",
                    "namespace": "team",
                    "annotations": {f"{PREFIX}total-number": "4", f"{PREFIX}mode": "Strict"},
                },
                "spec": {"minMember": 3, "scheduleTimeoutSeconds": 600},
            },
        ),
    )


@pytest.mark.parametrize(
    ("rule", "annotations", "said"),
    [
        (GangRule(3), {"min-available": "3", "total-number": "4"}, ""),
        (GangRule(4, 900), {"min-available": "4", "waiting-time": "900s"}, ""),
        (
            GangRule(timeout=901),
            {"min-available": "4", "waiting-time": "900s"},
            "ends every wait after 900 s",
        ),
        (GangRule(on_timeout="start"), {"min-available": "4", "mode": "NonStrict"}, "is mode NonStrict"),
        (GangRule(on_timeout="fail"), {"min-available": "4", "mode": "Strict"}, "activeDeadlineSeconds"),
        (GangRule(9), {"min-available": "4"}, "gang.size is 9, but job has 4 pods"),
    ],
    ids=["smaller", "longest wait", "too long", "start", "fail", "larger than the job"],
)
def test_rules(rule: GangRule, annotations: dict[str, str], said: str) -> None:
    made = fields(kind(gang_rule=rule), cluster(), ONE)
    assert made.annotations == {f"{PREFIX}name": "job"} | {
        f"{PREFIX}{key}": value for key, value in annotations.items()
    }
    assert len(made.notices) == bool(said)
    assert said in "".join(made.notices)


@pytest.mark.parametrize(
    ("pods", "size", "said"),
    [
        (PodContext(), None, ()),
        (
            PodContext("", "Job", "", "", (JobPods("", 4),)),
            None,
            ("train: the object has no name, so its gang has none either",),
        ),
        (
            PodContext("web", "Deployment", "", "", (JobPods("", None),)),
            None,
            (
                "train: the number of pods of web is not fixed, and a gang needs one: state gang.size in "
                "the policy",
            ),
        ),
    ],
    ids=["component", "no name", "no number"],
)
def test_no_gang_where_it_cannot_be_told(pods: PodContext, size: int | None, said: tuple[str, ...]) -> None:
    assert fields(kind(gang_rule=GangRule(size)), cluster(), pods) == PodFields(notices=said)


@pytest.mark.parametrize("replicas", [0, 1])
def test_a_single_pod_is_no_gang(replicas: int) -> None:
    assert fields(kind(), cluster(), ONE._replace(job=(JobPods("", replicas),))) == PodFields()


def test_a_name_too_long_for_a_label_stands_in_annotations() -> None:
    made = fields(kind(), cluster(), TWO._replace(owner="j" * 64))
    assert made.objects == ()
    assert made.annotations == {f"{PREFIX}name": "j" * 64, f"{PREFIX}min-available": "4"}


def test_a_size_makes_up_for_an_unknown_number() -> None:
    made = fields(
        kind(gang_rule=GangRule(2)), cluster(), PodContext("web", "Deployment", "", "", (JobPods("", None),))
    )
    assert made.annotations == {f"{PREFIX}name": "web", f"{PREFIX}min-available": "2"}


def test_runs_of_a_cron_job_are_one_gang() -> None:
    made = fields(kind(), cluster(), ONE._replace(owner_kind="CronJob"))
    assert "all runs of CronJob job as one gang" in made.notices[0]


@pytest.mark.parametrize(("hard", "strategy"), [(True, "MustGather"), (False, "PreferGather")])
def test_close_gangs_have_a_group_that_says_so(hard: bool, strategy: str) -> None:
    made = fields(kind(within=TopologyAffinity("rack", hard)), cluster("1.7.0"), ONE)
    assert made.labels == {GROUP: "job"}
    assert made.objects[0]["metadata"]["annotations"] == {
        f"{PREFIX}network-topology-spec": f'{{"gatherStrategy":[{{"layer":"rack","strategy":"{strategy}"}}]}}'
    }
    assert made.notices == ()


@pytest.mark.parametrize(
    ("version", "more", "said"),
    [
        ("1.6.1", {}, "Koordinator 1.6.1 does not place gangs by network topology (added in 1.7.0)"),
        ("1.8.0", {"gang_rule": GangRule(2)}, "only 2 of 4 do"),
        ("1.8.0", {"within": TopologyAffinity("switch")}, "the policy has no label for that level"),
        ("1.8.0", {"gang": "none"}, "honours topology only for gangs"),
    ],
    ids=["old", "a part of the job", "no such level", "no gang"],
)
def test_closeness_that_is_not_written(version: str, more: dict[str, Any], said: str) -> None:
    stated: dict[str, Any] = {"within": TopologyAffinity("rack"), **more}
    made = fields(kind(**stated), cluster(version), ONE)
    assert made.objects == ()
    assert len(made.notices) == 1
    assert said in made.notices[0]


@pytest.mark.parametrize(
    ("queue", "labels"),
    [
        ("team-a", {"quota.scheduling.koordinator.sh/name": "team-a"}),
        ("elsewhere", {"quota.scheduling.koordinator.sh/name": "elsewhere"}),
        ("default", {}),
        ("", {}),
    ],
)
def test_the_queue_is_a_quota(queue: str, labels: dict[str, str]) -> None:
    assert fields(kind("none", queue=queue), cluster(), PodContext()) == PodFields(labels)


def test_the_class_of_a_kind() -> None:
    stated = {"train": {"priority": "batch", "qos": "BE"}}
    made = fields(kind(""), cluster(classes=stated), PodContext())
    assert made == PodFields({"koordinator.sh/qosClass": "BE"}, spec={"priorityClassName": "koord-batch"})
    own = fields(kind("", priority_class="mine"), cluster(classes=stated), PodContext())
    assert own == PodFields({"koordinator.sh/qosClass": "BE"})


GATHERS = st.builds(GatherStrategy, NAMES, st.sampled_from(["MustGather", "PreferGather"]))
GANGS = st.builds(
    Gang,
    NAMES,
    st.just("") | NAMES,
    st.none() | st.integers(0, 10**6),
    st.none() | st.integers(0, 10**6),
    st.sampled_from(["", "Strict", "NonStrict"]),
    st.none() | st.integers(0, 10**6),
    st.lists(GATHERS, max_size=2).map(tuple),
)


@needs_crds
@settings(deadline=None)
@given(GANGS)
def test_every_group_fits_the_crd(gang: Gang) -> None:
    assert problems(pods.write_pod_group(gang)) == []


def test_annotations_in_full() -> None:
    gang = Gang("g", "n", 4, 8, "NonStrict", 600, (GatherStrategy("rack"),))
    assert pods.write_gang_annotations(gang) == {
        f"{PREFIX}name": "g",
        f"{PREFIX}min-available": "4",
        f"{PREFIX}waiting-time": "600s",
        f"{PREFIX}total-number": "8",
        f"{PREFIX}mode": "NonStrict",
        f"{PREFIX}network-topology-spec": ('{"gatherStrategy":[{"layer":"rack","strategy":"MustGather"}]}'),
    }


def test_a_group_in_full() -> None:
    gang = Gang("g", "n", 4, 8, "NonStrict", 600, (GatherStrategy("rack"),))
    assert pods.write_pod_group(gang) == {
        "apiVersion": "scheduling.sigs.k8s.io/v1alpha1",
        "kind": "PodGroup",
        "metadata": {
            "name": "g",
            "namespace": "n",
            "annotations": {
                f"{PREFIX}total-number": "8",
                f"{PREFIX}mode": "NonStrict",
                f"{PREFIX}network-topology-spec": (
                    '{"gatherStrategy":[{"layer":"rack","strategy":"MustGather"}]}'
                ),
            },
        },
        "spec": {"minMember": 4, "scheduleTimeoutSeconds": 600},
    }
