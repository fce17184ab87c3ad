"""Patches of Volcano's jobs: for a workload kind, and from the target's options."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policykit.manifests.patch import Patch, patched
from policykit.model.cluster import Cluster
from policykit.model.gang import GangRule
from policykit.model.topology import TopologyAffinity
from policykit.model.workload import WorkloadKind
from policykit.targets.volcano import job_patches as job_options
from policykit.targets.volcano import job_patches as jobs
from policykit.targets.volcano import versions
from policykit.targets.volcano.objects import jobs as job_objects
from policykit.targets.volcano.objects.jobs import Policy, Task
from tests.loaded import loaded
from tests.shared import SHARED
from tests.targets.volcano import racks
from tests.targets.volcano.racks import cluster
from tests.targets.volcano.stated import options as stating
from tests.targets.volcano.webhook import refused_job

GANG = WorkloadKind("training", gang="all")


def job(*tasks: Task, **spec: Any) -> dict[str, Any]:
    written = job_objects.write(job_objects.Job("a", "llm", tasks))
    return {**written, "spec": {**spec, **written["spec"]}}


def made(data: dict[str, Any], patches: tuple[Patch, ...]) -> Any:
    for patch in patches:
        data = patched(data, patch)
    return data


WORKERS = Task("worker", 4)
MASTER = Task("master", 1)
NAMED = WorkloadKind("training", scheduler="volcano", queue="a", priority_class="high")


@pytest.mark.parametrize(
    ("data", "kind", "expected"),
    [
        pytest.param(
            job(WORKERS),
            NAMED,
            [Patch("add", ("spec", "queue"), "a"), Patch("add", ("spec", "priorityClassName"), "high")],
            id="names",
        ),
        pytest.param(job(WORKERS, queue="a", priorityClassName="high"), NAMED, [], id="all-there"),
        pytest.param(
            job(Task("w", 1, template={"spec": {"schedulerName": "default-scheduler"}}), schedulerName="x"),
            WorkloadKind("t", scheduler="volcano"),
            [
                Patch("add", ("spec", "schedulerName"), "volcano"),
                Patch("add", ("spec", "tasks", 0, "template", "spec", "schedulerName"), "volcano"),
            ],
            id="a-task-overrules-its-job",
        ),
        pytest.param(
            job(WORKERS), WorkloadKind("t", scheduler="koord-scheduler", queue="a"), [], id="others"
        ),
        pytest.param(
            job(WORKERS, MASTER),
            GANG,
            [Patch("add", ("spec", "minAvailable"), 5)],
            id="the-default-is-stated",
        ),
        pytest.param(job(WORKERS, MASTER, minAvailable=5), GANG, [], id="all-is-stated"),
        pytest.param(
            job(WORKERS, MASTER, minAvailable=2),
            GANG,
            [Patch("add", ("spec", "minAvailable"), 5)],
            id="all",
        ),
        pytest.param(
            job(Task("worker", 4, 1)),
            GANG,
            [Patch("add", ("spec", "minAvailable"), 4)],
            id="beyond-the-tasks",
        ),
        pytest.param(
            job(WORKERS),
            GANG._replace(gang_rule=GangRule(3)),
            [Patch("add", ("spec", "minAvailable"), 3)],
            id="size",
        ),
        pytest.param(
            job(WORKERS),
            GANG._replace(gang_rule=GangRule(9)),
            [Patch("add", ("spec", "minAvailable"), 4)],
            id="size-above-the-job",
        ),
        pytest.param(
            job(MASTER, Task("worker", 4, depends_on=("master",))),
            GANG,
            [Patch("add", ("spec", "minAvailable"), 1)],
            id="dependent-tasks-are-not-waited-for",
        ),
        pytest.param(
            job(Task("master", 3, 1), Task("worker", 1, depends_on=("master",))),
            GANG,
            [
                Patch("add", ("spec", "minAvailable"), 3),
                Patch("add", ("spec", "tasks", 1, "minAvailable"), 0),
            ],
            id="nor-by-their-own-minimum",
        ),
        pytest.param(
            job(WORKERS),
            WorkloadKind("t", within=TopologyAffinity("rack", hard=True)),
            [Patch("add", ("spec", "networkTopology"), {"mode": "hard", "highestTierName": "rack"})],
            id="closeness",
        ),
        pytest.param(
            job(WORKERS, minAvailable=4),
            GANG._replace(gang_rule=GangRule(None, 600, "fail")),
            [
                Patch(
                    "add",
                    ("spec", "policies"),
                    [{"event": "PodPending", "action": "AbortJob", "timeout": "600s"}],
                )
            ],
            id="timeout",
        ),
        pytest.param(
            job(WORKERS, minAvailable=4, policies=[{"event": "PodEvicted", "action": "RestartJob"}]),
            GANG._replace(gang_rule=GangRule(None, 600, "fail")),
            [
                Patch(
                    "add",
                    ("spec", "policies", "-"),
                    {"event": "PodPending", "action": "AbortJob", "timeout": "600s"},
                )
            ],
            id="one-policy-more",
        ),
        pytest.param(
            job(
                WORKERS,
                minAvailable=4,
                policies=[{"event": "PodPending", "action": "AbortJob", "timeout": "1h"}],
            ),
            GANG._replace(gang_rule=GangRule(None, 600, "fail")),
            [Patch("add", ("spec", "policies", 0, "timeout"), "600s")],
            id="its-policy-changed",
        ),
        pytest.param(
            job(WORKERS, minAvailable=4, policies=[{"event": "*", "action": "RestartJob"}]),
            GANG._replace(gang_rule=GangRule(None, 600, "fail")),
            [],
            id="any-event-stands-alone",
        ),
        pytest.param(
            job(WORKERS, minAvailable=4),
            GANG._replace(gang_rule=GangRule(None, 600, "wait")),
            [],
            id="waiting-is-its-way",
        ),
        pytest.param({"apiVersion": "batch/v1", "kind": "Job", "spec": {}}, GANG, [], id="batch-job"),
        pytest.param({"apiVersion": 3, "kind": []}, GANG, [], id="shapes"),
    ],
)
def test_patches(data: dict[str, Any], kind: WorkloadKind, expected: list[Patch]) -> None:
    found = jobs.patches(data, kind, cluster(kind))
    assert list(found) == expected
    assert jobs.patches(made(data, found), kind, cluster(kind)) == ()


@pytest.mark.parametrize(
    ("api_version", "kind", "wrap", "prefix"),
    [
        ("batch.volcano.sh/v1alpha1", "CronJob", ("jobTemplate", "spec"), ("spec", "jobTemplate", "spec")),
        ("flow.volcano.sh/v1alpha1", "JobTemplate", (), ("spec",)),
    ],
    ids=["CronJob", "JobTemplate"],
)
def test_kinds_that_carry_a_job(
    api_version: str, kind: str, wrap: tuple[str, ...], prefix: tuple[str, ...]
) -> None:
    spec: Any = job(WORKERS)["spec"]
    for step in reversed(wrap):
        spec = {step: spec}
    data = {"apiVersion": api_version, "kind": kind, "metadata": {"name": "a"}, "spec": spec}
    assert jobs.patches(data, NAMED, cluster(NAMED)) == (
        Patch("add", (*prefix, "queue"), "a"),
        Patch("add", (*prefix, "priorityClassName"), "high"),
    )


FAIL = GANG._replace(gang_rule=GangRule(None, 600, "fail"))


@pytest.mark.parametrize(
    ("data", "kind", "version", "expected"),
    [
        pytest.param(job(WORKERS), GANG, "", (), id="nothing"),
        pytest.param(
            {"apiVersion": "flow.volcano.sh/v1alpha1", "kind": "JobFlow"},
            GANG,
            "",
            (
                "Volcano's controller does not read the patch of a JobFlow's flows: change the JobTemplates "
                "that they name",
            ),
            id="JobFlow",
        ),
        pytest.param(
            {**job(WORKERS), "kind": "CronJob", "spec": {"jobTemplate": {"spec": {}}}},
            GANG,
            "1.12",
            ("Volcano 1.12.4 has no CronJob (added in 1.13.0)",),
            id="CronJob",
        ),
        pytest.param(
            job(WORKERS),
            GANG._replace(gang_rule=GangRule(9)),
            "",
            ("the policy asks for a gang of 9, but the job has 4 pods: the gang is all of them",),
            id="too-few",
        ),
        pytest.param(
            job(MASTER, Task("worker", 4, depends_on=("master",))),
            GANG,
            "",
            (
                "task worker depends on others (dependsOn), so its pods are not in the gang: "
                "minAvailable is 1, or nothing would ever start",
            ),
            id="dependent",
        ),
        pytest.param(
            job(WORKERS),
            FAIL,
            "",
            (
                "the job is aborted when one of its pods is pending for 600 s. Time in the queue, "
                "before Volcano creates its pods, does not count; time to pull images does",
            ),
            id="timeout",
        ),
        pytest.param(
            job(WORKERS),
            FAIL,
            "1.10",
            (
                (
                    "Volcano 1.10.2 has no event PodPending (added in 1.11.0): the gang's timeout is "
                    "not written"
                ),
            ),
            id="timeout-before-1.11",
        ),
        pytest.param(
            job(WORKERS, policies=[{"events": ["*"], "action": "RestartJob"}]),
            FAIL,
            "",
            (("a policy for event * excludes policies for other events: the gang's timeout is not written"),),
            id="any-event",
        ),
        pytest.param(
            job(WORKERS, policies=[{"events": ["PodPending", "PodFailed"], "action": "RestartJob"}]),
            FAIL,
            "",
            (
                "a policy lists PodPending with other events: the gang's timeout is not written. "
                "Give PodPending its own policy",
            ),
            id="shared-policy",
        ),
        pytest.param(
            job(WORKERS),
            GANG._replace(gang_rule=GangRule(None, 600, "start")),
            "",
            (
                "Volcano cannot start part of a gang after a timeout. Nearest: a smaller gang size, "
                "with the other pods following when they fit",
            ),
            id="start",
        ),
        pytest.param(
            job(WORKERS),
            WorkloadKind("t", within=TopologyAffinity("rack")),
            "1.11",
            (
                "Volcano 1.11.2 has no network topology (added in 1.12.0): within one rack is not "
                "written. Nearest: pod affinity on its label",
            ),
            id="topology",
        ),
    ],
)
def test_notices(data: dict[str, Any], kind: WorkloadKind, version: str, expected: tuple[str, ...]) -> None:
    assert jobs.notices(data, kind, cluster(kind, version=version)) == expected


TASKS = st.lists(
    st.tuples(st.integers(1, 4), st.none() | st.integers(0, 4), st.booleans()), min_size=1, max_size=3
).map(
    lambda made: [
        Task(f"t{number}", replicas, None if least is None else min(least, replicas))._replace(
            depends_on=(f"t{number - 1}",) if waits and number else ()
        )
        for number, (replicas, least, waits) in enumerate(made)
    ]
)
OWN = st.sampled_from(
    [
        (),
        (Policy("RestartJob", ("PodEvicted",)),),
        (Policy("RestartJob", ("*",)),),
        (Policy("RestartTask", ("PodPending",), timeout="5m"),),
        (Policy("CompleteJob", ("TaskCompleted",)), Policy("AbortJob", (), 3)),
    ]
)
KINDS = st.builds(
    WorkloadKind,
    name=st.just("training"),
    usages=st.just(()),
    prefer=st.just({}),
    cards=st.none(),
    scheduler=st.sampled_from(["", "volcano"]),
    gang=st.sampled_from(["", "none", "all"]),
    placement=st.just(""),
    priority_class=st.sampled_from(["", "high"]),
    queue=st.sampled_from(["", "a"]),
    gang_rule=st.none()
    | st.tuples(st.none() | st.integers(1, 9), st.none() | st.just(600)).map(lambda r: GangRule(*r, "fail")),
    within=st.none()
    | st.tuples(st.sampled_from(["zone", "rack", "nvlink"]), st.booleans()).map(
        lambda w: TopologyAffinity(*w)
    ),
    namespaces=st.just(()),
    helpers=st.none(),
    match=st.just(()),
    placement_name=st.just(""),
    across=st.none(),
    autoscaling=st.none(),
)


@given(TASKS, OWN, KINDS, st.sampled_from(["1.8", "1.11", "1.12", "1.14.0", "1.15.1"]))
def test_a_patched_job_is_admitted_starts_and_stays(
    tasks: list[Task], policies: tuple[Policy, ...], kind: WorkloadKind, version: str
) -> None:
    policed = [job_objects.write_policy(policy) for policy in policies]
    data = job(*tasks, **({"policies": policed} if policed else {}))
    meant: Cluster = cluster(kind, version=version)
    after = made(data, jobs.patches(data, kind, meant))
    before = set(refused_job(data, versions.parse(version)))
    if kind.gang == "all":
        before = {why for why in before if "waits for pods" not in why}
    assert set(refused_job(after, versions.parse(version))) <= before
    assert jobs.patches(after, kind, meant) == ()


@pytest.mark.skipif(SHARED is None, reason="needs ../shared")
@pytest.mark.parametrize(
    ("file", "api_version", "name", "wrap"),
    [
        ("batch.volcano.sh_jobs", "batch.volcano.sh/v1alpha1", "Job", ()),
        ("batch.volcano.sh_cronjobs", "batch.volcano.sh/v1alpha1", "CronJob", ("jobTemplate", "spec")),
        ("flow.volcano.sh_jobtemplates", "flow.volcano.sh/v1alpha1", "JobTemplate", ()),
    ],
    ids=["Job", "CronJob", "JobTemplate"],
)
def test_patched_ones_are_valid_by_the_crd(
    file: str, api_version: str, name: str, wrap: tuple[str, ...]
) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    assert SHARED is not None
    crd = loaded((SHARED / f"corpus/crds/volcano/{file}.yaml").read_text())
    spec: Any = job(Task("worker", 4, template={"spec": {"containers": [{"name": "a"}]}}))["spec"]
    for step in reversed(wrap):
        spec = {step: spec, **({"schedule": "0 1 * * *"} if step == "jobTemplate" else {})}
    kind = NAMED._replace(gang="all", gang_rule=GangRule(3, 60, "fail"), within=TopologyAffinity("rack"))
    data = {"apiVersion": api_version, "kind": name, "metadata": {"name": "a"}, "spec": spec}
    found = jobs.patches(data, kind, cluster(kind))
    assert {patch.path[-1] for patch in found} == {
        *("queue", "priorityClassName", "minAvailable", "policies", "networkTopology")
    }
    jsonschema.validate(made(data, found), crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"])
    fields: Any = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
    for step in wrap:
        fields = fields["properties"][step]
    assert {patch.path[-1] for patch in found} <= set(fields["properties"])


KIND = WorkloadKind("training")
LEADER, WORKER = Task("master", 1), Task("worker", 4)


def cluster_with(said: dict[str, Any], **options: Any) -> Cluster:
    made = racks.cluster(KIND)
    target = made.targets["volcano"]._replace(options=stating({"jobs": {"training": said}, **options}))
    return made._replace(targets={"volcano": target})


TOPOLOGY = {
    "affinity": [["master", "worker"], ["ps"]],
    "anti_affinity": [["worker"]],
    "order": ["master", "ps", "worker"],
}


@pytest.mark.parametrize(
    ("said", "data", "expected", "notices"),
    [
        pytest.param({}, job(LEADER), [], (), id="nothing"),
        pytest.param(
            {"plugins": {"svc": [], "pytorch": ["--master=master"]}},
            job(LEADER, WORKER, plugins={"svc": []}),
            [Patch("add", ("spec", "plugins", "pytorch"), ["--master=master"])],
            (),
            id="plugins",
        ),
        pytest.param(
            {"plugins": {"svc": ["--disable-network-policy"]}},
            job(LEADER, plugins={"svc": [], "env": []}),
            [Patch("add", ("spec", "plugins", "svc"), ["--disable-network-policy"])],
            (),
            id="other-arguments",
        ),
        pytest.param(
            {"plugins": {"mpi": []}},
            job(WORKER),
            [],
            ("job plugin mpi names task master, which the job does not have: it is left out",),
            id="a-role-without-task",
        ),
        pytest.param(
            {"task_topology": TOPOLOGY},
            job(LEADER, WORKER),
            [
                Patch(
                    "add", ("metadata", "annotations", "volcano.sh/task-topology-affinity"), "master,worker"
                ),
                Patch("add", ("metadata", "annotations", "volcano.sh/task-topology-anti-affinity"), "worker"),
                Patch(
                    "add", ("metadata", "annotations", "volcano.sh/task-topology-task-order"), "master,worker"
                ),
            ],
            ("task topology names task ps, which the job does not have: it is left out",),
            id="task-topology",
        ),
    ],
)
def test_patches_of_options(
    said: dict[str, Any], data: dict[str, Any], expected: list[Patch], notices: tuple[str, ...]
) -> None:
    meant = cluster_with(said)
    assert list(jobs.patches(data, KIND, meant)) == expected
    assert jobs.notices(data, KIND, meant) == notices
    for patch in expected:
        data = patched(data, patch)
    assert jobs.patches(data, KIND, meant) == ()


def test_other_kinds_have_no_part_in_it() -> None:
    other = WorkloadKind("inference")
    assert jobs.patches(job(LEADER), other, cluster_with({"plugins": {"svc": []}})) == ()


def test_task_topology_needs_its_plugin() -> None:
    assert job_options.missing_plugin_notices(cluster_with({"task_topology": TOPOLOGY})) == (
        "task topology of training needs plugin task-topology, which is not in the configuration: "
        "add it to targets.volcano.plugins",
    )
    assert (
        job_options.missing_plugin_notices(
            cluster_with({"task_topology": TOPOLOGY}, plugins={"task-topology": {}})
        )
        == ()
    )
    assert job_options.missing_plugin_notices(cluster_with({"plugins": {"svc": []}})) == ()
    assert job_options.missing_plugin_notices(racks.cluster()._replace(targets={})) == ()
