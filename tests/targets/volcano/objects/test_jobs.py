from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policykit.manifests import writer
from policykit.targets.volcano.objects import jobs as job_objects
from policykit.targets.volcano.objects.jobs import Job, Policy, Task
from policykit.targets.volcano.objects.topology import NetworkTopology
from tests.loaded import loaded, loaded_all
from tests.shared import SHARED
from tests.targets.volcano.objects.test_queues import NAMES
from tests.targets.volcano.test_pods import BOUNDS, TEXT

EVENTS = st.lists(st.sampled_from(["PodFailed", "PodEvicted", "TaskCompleted"]), unique=True, max_size=3)
POLICIES = st.lists(
    st.builds(
        Policy,
        action=st.sampled_from(["RestartJob", "AbortJob"]),
        events=EVENTS.map(tuple),
        exit_code=st.none() | st.integers(1, 255),
        timeout=st.sampled_from(["", "10m"]),
    ),
    max_size=2,
).map(tuple)
TASKS = st.builds(
    Task,
    name=NAMES,
    replicas=st.integers(0, 9),
    min_available=st.none() | st.integers(0, 9),
    depends_on=st.lists(NAMES, max_size=2).map(tuple),
    policies=POLICIES,
    template=st.sampled_from([{}, {"spec": {"containers": [{"name": "main"}]}}]),
)
JOBS = st.builds(
    Job,
    namespace=TEXT,
    name=NAMES,
    tasks=st.lists(TASKS, max_size=3).map(tuple),
    scheduler=TEXT,
    queue=TEXT,
    min_available=st.none() | st.integers(0, 9),
    priority_class=TEXT,
    policies=POLICIES,
    plugins=st.dictionaries(NAMES, st.lists(NAMES, max_size=2).map(tuple), max_size=2),
    bound=BOUNDS,
)


@given(JOBS)
def test_what_is_written_reads_back(job: Job) -> None:
    assert job_objects.read(job_objects.write(job)) == job
    assert job_objects.read(loaded(writer.dump(job_objects.write(job)))) == job


def test_written_in_full() -> None:
    job = Job(
        "team-a",
        "llm",
        (Task("worker", 4, 2, ("master",), (Policy("CompleteJob", ("TaskCompleted",)),), {"spec": {}}),),
        "volcano",
        "a",
        2,
        "high",
        (Policy("RestartJob", ("PodFailed", "PodEvicted")), Policy("AbortJob", (), 3, "10s")),
        {"svc": (), "env": ("x",)},
        NetworkTopology("soft", 1),
    )
    written = job_objects.write(job)
    assert written == {
        "apiVersion": "batch.volcano.sh/v1alpha1",
        "kind": "Job",
        "metadata": {"name": "llm", "namespace": "team-a"},
        "spec": {
            "schedulerName": "volcano",
            "queue": "a",
            "priorityClassName": "high",
            "minAvailable": 2,
            "networkTopology": {"mode": "soft", "highestTierAllowed": 1},
            "plugins": {"env": ["x"], "svc": []},
            "policies": [
                {"events": ["PodFailed", "PodEvicted"], "action": "RestartJob"},
                {"exitCode": 3, "action": "AbortJob", "timeout": "10s"},
            ],
            "tasks": [
                {
                    "name": "worker",
                    "replicas": 4,
                    "minAvailable": 2,
                    "dependsOn": {"name": ["master"]},
                    "policies": [{"event": "TaskCompleted", "action": "CompleteJob"}],
                    "template": {"spec": {}},
                }
            ],
        },
    }


@pytest.mark.parametrize(
    ("job", "gang", "minimum"),
    [
        (Job("", "a", (Task("w", 4), Task("m", 1))), 5, 5),
        (Job("", "a", (Task("w", 4, 2), Task("m", 1))), 3, 3),
        (Job("", "a", (Task("w", 4, 2),), min_available=0), 2, 2),
        (Job("", "a", (Task("w", 4),), min_available=3), 3, 4),
    ],
    ids=["all", "tasks", "zero", "stated"],
)
def test_the_gang_is_filled_in_as_by_the_webhook(job: Job, gang: int, minimum: int) -> None:
    assert (job.gang, job.task_minimum) == (gang, minimum)


@pytest.mark.parametrize(
    "data",
    [{}, {"spec": []}, {"spec": {"tasks": "x", "minAvailable": "1", "plugins": ["svc"], "policies": {}}}],
    ids=["empty", "shape", "types"],
)
def test_other_shapes_are_empty(data: dict[str, Any]) -> None:
    assert job_objects.read(data) == Job("", "", ())


def test_an_inner_spec() -> None:
    cron = {"metadata": {"name": "c"}, "spec": {"jobTemplate": {"spec": {"queue": "a"}}}}
    assert job_objects.read(cron, ("spec", "jobTemplate", "spec")) == Job("", "c", (), queue="a")


@pytest.mark.skipif(SHARED is None, reason="needs ../shared")
def test_published_jobs_are_valid_by_the_crd_when_written_again() -> None:
    jsonschema = pytest.importorskip("jsonschema")
    assert SHARED is not None
    crd = loaded((SHARED / "corpus/crds/volcano/batch.volcano.sh_jobs.yaml").read_text())
    spec = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
    bare = {**spec, "properties": {k: v for k, v in spec["properties"].items() if k != "tasks"}}
    read = 0
    for path in sorted((SHARED / "corpus/volcano").glob("*.yaml")):
        for data in loaded_all(path.read_text()):
            if isinstance(data, dict) and data.get("kind") == "Job" and "volcano" in data["apiVersion"]:
                job = job_objects.read(data)
                written = job_objects.write(job)
                assert job_objects.read(written) == job
                jsonschema.validate({k: v for k, v in written["spec"].items() if k != "tasks"}, bare)
                read += 1
    assert read
