"""Who starts together: names, numbers and requests of an object's pod sets."""

from __future__ import annotations

import pytest

from policykit.kube import podsets
from policykit.model.pod_fields import JobPods
from policykit.targets.workloads.gangs import makes_several_gangs, pods
from tests.targets.workloads.objects import (
    CRON_JOB,
    DEPLOYMENT,
    GROUPS,
    JOB,
    JOB_SET,
    POD,
    PYTORCH_JOB,
    RAY_JOB,
    VOLCANO_JOB,
    manifest,
)

WRAPPED = """\
apiVersion: workload.codeflare.dev/v1beta2
kind: AppWrapper
metadata: {name: wrapper, namespace: ml}
spec:
  components:
  - template: JOB
  - template: OTHER
"""
FLAT_TASKS = VOLCANO_JOB.replace("name: m, ", "").replace("name: w, ", "")


@pytest.mark.parametrize(
    ("text", "owner", "job", "mine"),
    [
        (POD, ("a", "Pod", ""), {"": 1}, [""]),
        (JOB, ("a", "Job", ""), {"": 4}, [""]),
        (CRON_JOB, ("a", "CronJob", ""), {"": 4}, [""]),
        (DEPLOYMENT, ("a", "Deployment", ""), {"": 3}, [""]),
        (DEPLOYMENT.replace("replicas: 3", "replicas: '${N}'"), ("a", "Deployment", ""), {"": None}, [""]),
        (VOLCANO_JOB, ("a", "Job", ""), {"m": 1, "w": 3}, ["m", "w"]),
        (FLAT_TASKS, ("a", "Job", ""), {"task": 1, "task-2": 3}, ["task", "task-2"]),
        (VOLCANO_JOB.replace("name: m", "name: w"), ("a", "Job", ""), {"w": 1, "w-2": 3}, ["w", "w-2"]),
        (PYTORCH_JOB, ("a", "PyTorchJob", ""), {"master": 1, "worker": 3}, ["master", "worker"]),
        (JOB_SET, ("a", "JobSet", ""), {"leader": 1, "workers": 8}, ["leader", "workers"]),
    ],
    ids=[
        "Pod",
        "Job",
        "CronJob",
        "Deployment",
        "placeholder",
        "Volcano Job",
        "tasks without a name",
        "tasks of one name",
        "PyTorchJob",
        "JobSet",
    ],
)
def test_the_pods_of_a_job(
    text: str, owner: tuple[str, str, str], job: dict[str, int | None], mine: list[str]
) -> None:
    one = manifest(text)
    sets = podsets.pod_sets(one.data)
    for pod_set, name in zip(sets, mine, strict=True):
        found = pods(one, pod_set, sets)
        assert found[:4] == (*owner, name)
        assert {member.name: member.replicas for member in found.job} == job


def test_who_submits_a_job_is_no_member_of_it() -> None:
    one = manifest(RAY_JOB)
    sets = podsets.pod_sets(one.data)
    found = {pod_set.name: pods(one, pod_set, sets) for pod_set in sets}
    cluster = {"head": 1, "big": 2, "worker": 1}
    assert {m.name: m.replicas for m in found["head"].job} == cluster
    assert {m.name: m.replicas for m in found["worker[1]"].job} == cluster
    assert [found[name].pod_set for name in ("head", "worker[0]", "worker[1]")] == ["head", "big", "worker"]
    assert found["submitter"].job == (JobPods("", 1, {}),)


def test_objects_inside_another_are_jobs_of_their_own() -> None:
    one = manifest(WRAPPED.replace("JOB", JOB).replace("OTHER", POD.replace("name: a", "name: b", 1)))
    sets = podsets.pod_sets(one.data)
    found = [pods(one, pod_set, sets) for pod_set in sets]
    assert [one[:4] for one in found] == [("a", "Job", "ml", ""), ("b", "Pod", "ml", "")]
    assert [[member.replicas for member in one.job] for one in found] == [[4], [1]]


def test_what_a_member_asks_for_and_where_it_goes() -> None:
    text = POD.replace(
        "spec: {",
        "spec: {nodeSelector: {a: b}, tolerations: [{key: a}, '${T}'], affinity: {nodeAffinity: {}},"
        " overhead: {cpu: 1},",
    ).replace("nvidia.com/gpu: 1", "nvidia.com/gpu: 1, cpu: 500m, memory: 1Gi")
    one = manifest(text)
    sets = podsets.pod_sets(one.data)
    assert pods(one, sets[0], sets).job == (
        JobPods(
            "",
            1,
            {"cpu": 1500, "memory": 2**30, "nvidia.com/gpu": 1},
            {"a": "b"},
            ({"key": "a"},),
            {"nodeAffinity": {}},
        ),
    )


SERVICE = """\
apiVersion: serving.kserve.io/v1alpha1
kind: LLMInferenceService
metadata: {name: a}
spec:
  replicas: 1
  parallelism: {data: 4, dataLocal: 1}
  template: {containers: [{name: a}]}
  worker: {containers: [{name: a}]}
  prefill: {replicas: 2, template: {containers: [{name: a}]}}
"""


def test_another_job_of_the_object_has_a_name_of_its_own() -> None:
    one = manifest(SERVICE)
    sets = podsets.pod_sets(one.data)
    found = {pod_set.name: pods(one, pod_set, sets) for pod_set in sets}
    assert {name: (p.owner, [m.replicas for m in p.job]) for name, p in found.items()} == {
        "main": ("a", [1, 3]),
        "worker": ("a", [1, 3]),
        "prefill": ("a-prefill", [2]),
    }


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (GROUPS, True),
        (GROUPS.replace("replicas: 2", "replicas: 1"), False),
        (JOB_SET, False),
        (JOB, False),
        (PYTORCH_JOB, False),
    ],
    ids=["groups", "one group", "JobSet", "Job", "PyTorchJob"],
)
def test_several_gangs_of_one_template(text: str, expected: bool) -> None:
    one = manifest(text)
    sets = podsets.pod_sets(one.data)
    assert [makes_several_gangs(one, pod_set, sets) for pod_set in sets] == [expected] * len(sets)
