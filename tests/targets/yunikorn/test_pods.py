import json
from typing import Any

import pytest

from policykit.model.gang import GangRule
from policykit.model.pod_fields import JobPods, PodContext, PodFields
from policykit.model.queue import Queue
from policykit.model.topology import Level, TopologyAffinity, TopologySpread
from policykit.model.workload import WorkloadKind
from policykit.placement.recognition import WORKLOAD_KEY
from policykit.targets.yunikorn import pods
from policykit.targets.yunikorn.names import APP_ID, PARAMETERS, QUEUE, TASK_GROUP_NAME, TASK_GROUPS
from tests.targets.yunikorn.clusters import GIB, GPU, cluster

KIND = WorkloadKind("training", scheduler="yunikorn", gang="all", queue="team-a")
CLUSTER = cluster(
    Queue("research", limit={GPU: 64}),
    Queue("team-a", "research", limit={"memory": 1000 * GIB}),
    levels=(Level("rack", "example.com/rack"),),
)
TOLERATION = {"key": "a", "operator": "Exists"}
MASTER = JobPods("master", 1, {"cpu": 2000, "memory": 4 * GIB})
WORKER = JobPods(
    "worker",
    4,
    {"cpu": 8000, "memory": 64 * GIB, GPU: 8},
    {"pool": "train"},
    (TOLERATION,),
    {"nodeAffinity": {}},
)
JOB = PodContext("llama", "PyTorchJob", "ml", "worker", (MASTER, WORKER))
ID = "ml-pytorchjob-llama"


def fields(kind: WorkloadKind = KIND, of: PodContext = JOB) -> PodFields:
    return pods.fields(kind, CLUSTER, of)


def groups(found: PodFields) -> dict[str, dict[str, Any]]:
    listed: list[dict[str, Any]] = json.loads(found.annotations[TASK_GROUPS])
    return {group["name"]: group for group in listed}


def test_a_gang_of_two_parts() -> None:
    found = fields()
    assert found.labels == {APP_ID: ID, QUEUE: "root.research.team-a"}
    assert set(found.annotations) == {TASK_GROUPS, TASK_GROUP_NAME}
    assert found.annotations[TASK_GROUP_NAME] == "worker"
    assert found.notices == ()
    assert found.spec == {}
    assert groups(found) == {
        "master": {"name": "master", "minMember": 1, "minResource": {"cpu": "2", "memory": "4Gi"}},
        "worker": {
            "name": "worker",
            "minMember": 4,
            "minResource": {"cpu": "8", "memory": "64Gi", GPU: "8"},
            "nodeSelector": {"pool": "train"},
            "tolerations": [TOLERATION],
            "affinity": {"nodeAffinity": {}},
        },
    }


def test_the_only_part_needs_no_name() -> None:
    found = fields(of=JOB._replace(pod_set="", job=(WORKER._replace(name=""),)))
    assert found.annotations[TASK_GROUP_NAME] == "pods"
    assert list(groups(found)) == ["pods"]


@pytest.mark.parametrize(
    ("rule", "parameters", "said"),
    [
        (None, None, ""),
        (GangRule(timeout=600), "placeholderTimeoutInSeconds=600", ""),
        (GangRule(on_timeout="start"), "gangSchedulingStyle=Soft", ""),
        (
            GangRule(timeout=60, on_timeout="fail"),
            "placeholderTimeoutInSeconds=60 gangSchedulingStyle=Hard",
            "",
        ),
        (
            GangRule(on_timeout="wait"),
            "gangSchedulingStyle=Hard",
            "training: a YuniKorn gang does not retry after its timeout",
        ),
    ],
    ids=["own", "timeout", "start", "fail", "wait"],
)
def test_how_long_it_waits(rule: GangRule | None, parameters: str | None, said: str) -> None:
    found = fields(KIND._replace(gang_rule=rule))
    assert found.annotations.get(PARAMETERS) == parameters
    assert [notice[: len(said)] for notice in found.notices] == ([said] if said else [])


@pytest.mark.parametrize(
    ("size", "sizes"),
    [(None, [1, 4]), (3, [1, 2]), (1, [1]), (9, [1, 4])],
    ids=["all", "some", "first-part-alone", "more-than-there-are"],
)
def test_sizes(size: int | None, sizes: list[int]) -> None:
    found = fields(KIND._replace(gang_rule=GangRule(size)))
    assert [group["minMember"] for group in groups(found).values()] == sizes
    assert bool(found.notices) is (size in (1, 3))
    assert (TASK_GROUP_NAME in found.annotations) is (len(sizes) > 1)


@pytest.mark.parametrize(
    ("job", "rule", "members"),
    [
        ((WORKER._replace(replicas=None),), GangRule(2), 2),
        ((WORKER._replace(replicas=None),), None, None),
        ((MASTER, WORKER._replace(replicas=None)), GangRule(2), None),
        ((WORKER._replace(replicas=0),), None, None),
        ((), None, None),
    ],
    ids=["size-of-one-part", "no-size", "two-parts", "no-pods", "unknown"],
)
def test_numbers_that_are_not_fixed(
    job: tuple[JobPods, ...], rule: GangRule | None, members: int | None
) -> None:
    found = fields(KIND._replace(gang_rule=rule), JOB._replace(job=job))
    assert (TASK_GROUPS in found.annotations) is (members is not None)
    if members:
        assert groups(found)["worker"]["minMember"] == members


def test_more_than_the_queue_may_ever_use() -> None:
    of = JOB._replace(job=(MASTER, WORKER._replace(replicas=16)))
    assert fields(of=of).notices == (
        "training: the gang of llama requests 1028Gi memory, but queue team-a may use at most 1000Gi: "
        "YuniKorn rejects it",
        f"training: the gang of llama requests 128 {GPU}, but queue team-a may use at most 64: YuniKorn "
        "rejects it",
    )


@pytest.mark.parametrize(
    ("kind", "of"),
    [
        (KIND._replace(gang="none"), JOB),
        (KIND._replace(gang=""), JOB),
        (KIND, JOB._replace(owner_kind="DaemonSet")),
    ],
    ids=["none", "unread", "daemons"],
)
def test_no_gang(kind: WorkloadKind, of: PodContext) -> None:
    assert fields(kind, of).annotations == {}


def test_runs_of_a_cron_job_share_an_application() -> None:
    (notice,) = fields(of=JOB._replace(owner_kind="CronJob")).notices
    assert notice.startswith("training: all runs of CronJob llama share one application")


def test_a_component_knows_no_application() -> None:
    found = fields(of=PodContext())
    assert (found.labels, found.annotations) == ({QUEUE: "root.research.team-a"}, {})
    (notice,) = found.notices
    assert notice.startswith("training: in YuniKorn, pods without an application share one per namespace")
    assert fields(WorkloadKind("web"), PodContext()) == PodFields()


def test_an_application_is_one_of_its_namespace() -> None:
    found = fields(of=JOB._replace(namespace=""))
    assert found.labels[APP_ID] == "pytorchjob-llama"
    assert found.notices == (
        "training: llama has no namespace, so its application is pytorchjob-llama, which no other workload "
        "of the cluster may use. Nearest: metadata.namespace",
    )


def test_long_names_of_applications_differ() -> None:
    one, other = (pods.application_id(PodContext("a" * 60 + end, "Job", "namespace")) for end in ("1", "2"))
    assert len(one) == len(other) == 63
    assert one != other


@pytest.mark.parametrize(
    ("queue", "path"),
    [("team-a", "root.research.team-a"), ("default", "root.default"), ("root.x", "root.x")],
)
def test_queues(queue: str, path: str) -> None:
    assert pods.queue_path(queue, CLUSTER) == path


def test_a_path_no_label_holds_is_an_annotation() -> None:
    long = "a" * 50
    made = cluster(Queue(long), Queue("b" * 20, long))
    kind = KIND._replace(queue="b" * 20)
    found = pods.fields(kind, made, JOB)
    assert QUEUE not in found.labels
    assert found.annotations == {QUEUE: f"root.{long}.{'b' * 20}"}
    (notice,) = found.notices
    assert "does not fit into a label of 63 characters" in notice


def test_within_one_rack() -> None:
    found = fields(KIND._replace(within=TopologyAffinity("rack", hard=True)))
    together = {
        "requiredDuringSchedulingIgnoredDuringExecution": [
            {"topologyKey": "example.com/rack", "labelSelector": {"matchLabels": {APP_ID: ID}}}
        ]
    }
    assert found.spec == {"affinity": {"podAffinity": together}}
    assert groups(found)["worker"]["affinity"] == {"nodeAffinity": {}, "podAffinity": together}
    assert len(found.notices) == 1


@pytest.mark.parametrize(
    ("within", "beginning"),
    [
        (TopologyAffinity("rack"), "training: preferring one rack has no effect"),
        (TopologyAffinity("switch", hard=True), "training: no node label is known for level switch"),
    ],
    ids=["soft", "no-label"],
)
def test_closeness_that_has_no_effect(within: TopologyAffinity, beginning: str) -> None:
    found = fields(KIND._replace(within=within))
    assert found.spec == {}
    (notice,) = found.notices
    assert notice.startswith(beginning)


def test_placeholders_are_spread_as_the_pods_are() -> None:
    group = groups(fields(KIND._replace(across=TopologySpread("rack", hard=True, skew=2))))["worker"]
    assert group["labels"] == {WORKLOAD_KEY: "training"}
    (constraint,) = group["topologySpreadConstraints"]
    assert constraint["topologyKey"] == "example.com/rack"
    assert (constraint["maxSkew"], constraint["whenUnsatisfiable"]) == (2, "DoNotSchedule")
    assert constraint["labelSelector"] == {"matchLabels": {WORKLOAD_KEY: "training"}}


def test_a_wish_to_spread_has_no_effect() -> None:
    found = fields(KIND._replace(across=TopologySpread("rack")))
    assert "topologySpreadConstraints" not in groups(found)["worker"]
    (notice,) = found.notices
    assert notice.startswith("training: a soft spread over rack has no effect")
