"""What the pods of each kind carry under each scheduler once their kind asks for a gang and closeness."""

from __future__ import annotations

import json
from typing import Any

import pytest

from policykit.kube import podsets
from policykit.manifests.path import Path, lookup
from policykit.manifests.writer import dump
from tests.clusters import policy
from tests.targets.workloads.objects import (
    CRON_JOB,
    DEPLOYMENT,
    GROUPS,
    JOB,
    JOB_SET,
    POD,
    PYTORCH_JOB,
    RAY_JOB,
    STATEFUL_SET,
    TEMPLATE,
    VOLCANO_JOB,
    apply,
)
from tests.targets.workloads.policies import CLUSTERS, TARGETS, asking

PLAIN = {name: policy(asking(scheduler, target)) for name, (scheduler, target) in TARGETS.items()}
ON_REQUEST: dict[str, Any] = {"workload": "training", "card": "h20"}
GROUP_NAME = "scheduling.k8s.io/group-name"
MIN_MEMBER = "scheduling.volcano.sh/group-min-member"
NEAR = {
    "volcano.sh/network-topology-mode": "hard",
    "volcano.sh/network-topology-highest-tier": "1",
}
KOORDINATED = "pod-group.scheduling.sigs.k8s.io"
OWNERS: tuple[Path, ...] = (("metadata",), ("spec", "jobTemplate", "metadata"))


def carried(data: dict[str, Any]) -> dict[str, dict[str, str]]:
    """Labels and annotations of each pod set by its name; of owners' annotations, under `owner`."""
    found = {one.name: {**one.labels, **one.annotations} for one in podsets.pod_sets(data)}
    owners = [lookup(data, (*owner, "annotations")) for owner in OWNERS]
    found["owner"] = {key: text for one in owners if isinstance(one, dict) for key, text in one.items()}
    return found


def added(text: str, target_name: str) -> dict[str, dict[str, str]]:
    """What gang, closeness and spreading add to what the kind's pods carry anyway."""
    before = carried(apply(text, PLAIN[target_name], **ON_REQUEST)[0])
    after = carried(apply(text, CLUSTERS[target_name], **ON_REQUEST)[0])
    new = {
        name: {key: value for key, value in entries.items() if before[name].get(key) != value}
        for name, entries in after.items()
    }
    return {name: entries for name, entries in new.items() if entries}


KINDS = {
    "Pod": POD,
    "Job": JOB,
    "CronJob": CRON_JOB,
    "Deployment": DEPLOYMENT,
    "StatefulSet": STATEFUL_SET,
    "Volcano Job": VOLCANO_JOB,
    "PyTorchJob": PYTORCH_JOB,
    "RayJob": RAY_JOB,
    "JobSet": JOB_SET,
    "LeaderWorkerSet": GROUPS,
}
SETS = {
    "PyTorchJob": ("replica[Master]", "replica[Worker]"),
    "RayJob": ("head", "worker[0]", "worker[1]"),
    "JobSet": ("replicatedJob[0]", "replicatedJob[1]"),
    "Volcano Job": ("task[0]", "task[1]"),
    "CronJob": ("pod",),
    "Pod": ("pod",),
}
LABELLED = {
    "task[0]": {"policykit.io/workload": "training"},
    "task[1]": {"policykit.io/workload": "training"},
}
"""Volcano hands no label of a Job to its pods, which spreading knows by theirs."""


def each(kind: str, entries: dict[str, str]) -> dict[str, dict[str, str]]:
    return dict.fromkeys(SETS.get(kind, ("pod",)), entries)


VOLCANO: dict[str, dict[str, dict[str, str]]] = {
    "Pod": {},
    "Job": {"pod": NEAR, "owner": {MIN_MEMBER: "4"}},
    "CronJob": {"pod": NEAR, "owner": {MIN_MEMBER: "4"}},
    "Deployment": {"pod": NEAR, "owner": {MIN_MEMBER: "3"}},
    "StatefulSet": {"pod": NEAR, "owner": {MIN_MEMBER: "3"}},
    "Volcano Job": LABELLED,
    "PyTorchJob": {},
    "RayJob": {},
    "JobSet": each("JobSet", {GROUP_NAME: "a"}),
    "LeaderWorkerSet": {},
}
OLD_VOLCANO = {
    kind: each(kind, {GROUP_NAME: "a"}) if "owner" in entries else entries
    for kind, entries in VOLCANO.items()
}
"""Before 1.12 no annotation of the owner is read: a PodGroup stands beside."""
KOORDINATOR = {
    kind: {} if kind in ("Pod", "LeaderWorkerSet") else each(kind, {KOORDINATED: "a"}) for kind in KINDS
}
KOORDINATOR["Volcano Job"] = {name: {**entries, KOORDINATED: "a"} for name, entries in LABELLED.items()}


@pytest.mark.parametrize(
    ("target_name", "kind", "expected"),
    [
        pytest.param(target_name, kind, expected, id=f"{target_name} {kind}")
        for target_name, table in (
            ("volcano", VOLCANO),
            ("old volcano", OLD_VOLCANO),
            ("koordinator", KOORDINATOR),
            ("kubernetes", {kind: {} if kind != "Volcano Job" else LABELLED for kind in KINDS}),
        )
        for kind, expected in table.items()
    ],
)
def test_the_metadata_of_each_kind(target_name: str, kind: str, expected: dict[str, dict[str, str]]) -> None:
    assert added(KINDS[kind], target_name) == expected


TASK_GROUPS = "yunikorn.apache.org/task-groups"
TASK_GROUP = "yunikorn.apache.org/task-group-name"


@pytest.mark.parametrize(
    ("kind", "groups"),
    [
        ("Pod", {}),
        ("Job", {"pods": 4}),
        ("CronJob", {"pods": 4}),
        ("Deployment", {"pods": 3}),
        ("Volcano Job", {"m": 1, "w": 3}),
        ("PyTorchJob", {"master": 1, "worker": 3}),
        ("RayJob", {"head": 1, "big": 2, "worker": 1}),
        ("JobSet", {"leader": 1, "workers": 8}),
        ("LeaderWorkerSet", {}),
    ],
)
def test_the_task_groups_of_each_kind(kind: str, groups: dict[str, int]) -> None:
    found = added(KINDS[kind], "yunikorn")
    named = {name: entries for name, entries in found.items() if TASK_GROUPS in entries}
    assert [entries[TASK_GROUP] for entries in named.values()] == list(groups)
    for entries in named.values():
        assert {one["name"]: one["minMember"] for one in json.loads(entries[TASK_GROUPS])} == groups


def test_a_task_group_goes_where_its_pods_go() -> None:
    data, _ = apply(RAY_JOB, CLUSTERS["yunikorn"], **ON_REQUEST)
    cluster = data["spec"]["rayClusterSpec"]
    templates = [cluster["headGroupSpec"], *cluster["workerGroupSpecs"]]
    for one in templates:
        listed = json.loads(one["template"]["metadata"]["annotations"][TASK_GROUPS])
        for group, member in zip(listed, templates, strict=True):
            spec = member["template"]["spec"]
            assert group.get("tolerations", []) == spec.get("tolerations", [])
            assert group["affinity"] == spec["affinity"]


@pytest.mark.parametrize(
    ("target_name", "kind", "size"),
    [
        ("old volcano", "Job", 4),
        ("volcano", "JobSet", 9),
        ("koordinator", "Job", 4),
        ("koordinator", "Volcano Job", 4),
        ("koordinator", "PyTorchJob", 4),
        ("koordinator", "RayJob", 4),
        ("koordinator", "JobSet", 9),
    ],
)
def test_a_pod_group_stands_beside_once(target_name: str, kind: str, size: int) -> None:
    _, found = apply(KINDS[kind], CLUSTERS[target_name], **ON_REQUEST)
    (group,) = found.objects
    assert group["kind"] == "PodGroup"
    assert group["metadata"]["name"] == "a"
    assert group["metadata"]["labels"] == {"policykit.io/workload": "training"}
    assert group["spec"]["minMember"] == size


@pytest.mark.parametrize("kind", ["Job", "Deployment", "PyTorchJob", "JobSet"])
def test_kubernetes_own_gangs_stand_beside_too(kind: str) -> None:
    data, found = apply(KINDS[kind], CLUSTERS["native"], **ON_REQUEST)
    (group,) = found.objects
    assert (group["apiVersion"], group["kind"]) == ("scheduling.k8s.io/v1alpha2", "PodGroup")
    sets = podsets.pod_sets(data)
    assert {one.spec["schedulingGroup"]["podGroupName"] for one in sets} == {group["metadata"]["name"]}
    pods = sum(one.replicas or 0 for one in sets)
    assert group["spec"] == {"schedulingPolicy": {"gang": {"minCount": pods}}}


def test_a_volcano_job_states_its_gang_in_fields_of_its_own() -> None:
    job = VOLCANO_JOB.replace("spec: {", "spec: {minAvailable: 1, ")
    data, found = apply(job, CLUSTERS["volcano"], **ON_REQUEST)
    assert data["spec"]["minAvailable"] == 4
    assert data["spec"]["networkTopology"] == {"mode": "hard", "highestTierAllowed": 1}
    assert found.objects == ()


@pytest.mark.parametrize(
    ("head", "place"),
    [
        ("apiVersion: batch.volcano.sh/v1alpha1\nkind: CronJob", ("spec", "jobTemplate", "spec")),
        ("apiVersion: flow.volcano.sh/v1alpha1\nkind: JobTemplate", ("spec",)),
    ],
    ids=["CronJob", "JobTemplate"],
)
def test_what_makes_volcano_jobs_is_patched_as_they_are(head: str, place: Path) -> None:
    job = VOLCANO_JOB.split("spec: ", 1)[1].replace("{tasks", "{minAvailable: 1, tasks")
    spec = f"{{schedule: '@daily', jobTemplate: {{spec: {job.strip()}}}}}" if len(place) > 1 else job
    data, _ = apply(f"{head}\nmetadata: {{name: a}}\nspec: {spec}", CLUSTERS["volcano"], **ON_REQUEST)
    made: Any = lookup(data, place)
    assert (made["minAvailable"], made["queue"], made["networkTopology"]["mode"]) == (4, "research", "hard")


def test_every_task_of_a_volcano_job_is_spread() -> None:
    data, _ = apply(VOLCANO_JOB, CLUSTERS["volcano"], **ON_REQUEST)
    for task in data["spec"]["tasks"]:
        (constraint,) = task["template"]["spec"]["topologySpreadConstraints"]
        assert constraint["labelSelector"]["matchLabels"] == task["template"]["metadata"]["labels"]


@pytest.mark.parametrize("target_name", TARGETS)
def test_spreading_is_for_every_scheduler(target_name: str) -> None:
    data, _ = apply(JOB, CLUSTERS[target_name], **ON_REQUEST)
    (constraint,) = data["spec"]["template"]["spec"]["topologySpreadConstraints"]
    assert (constraint["topologyKey"], constraint["maxSkew"]) == ("kubernetes.io/hostname", 2)


def test_one_pod_is_no_gang() -> None:
    one = DEPLOYMENT.replace("replicas: 3", "replicas: 1")
    assert added(one, "volcano") == {"pod": NEAR}
    assert added(one, "koordinator") == {}
    template = f"{{apiVersion: v1, kind: PodTemplate, metadata: {{name: a}}, {TEMPLATE}}}"
    for target_name in TARGETS:
        assert apply(template, CLUSTERS[target_name], **ON_REQUEST)[1].objects == ()


RUN_POLICY = "spec: {runPolicy: {schedulingPolicy: {minAvailable: NUMBER}}, "
ROLES = f"""\
apiVersion: workloads.x-k8s.io/v1alpha2
kind: RoleBasedGroup
metadata: {{name: a}}
spec: {{roles: [{{name: r, replicas: 2, standalonePattern: {{{TEMPLATE}}}}}]}}
"""


@pytest.mark.parametrize(
    ("text", "path", "value"),
    [
        (
            PYTORCH_JOB.replace("spec: {", RUN_POLICY.replace("NUMBER", "1"), 1),
            ("spec", "runPolicy", "schedulingPolicy", "minAvailable"),
            4,
        ),
        (
            PYTORCH_JOB.replace("spec: {", RUN_POLICY.replace("NUMBER", "'${N}'"), 1),
            ("spec", "runPolicy", "schedulingPolicy", "minAvailable"),
            "${N}",
        ),
        (PYTORCH_JOB, ("spec", "runPolicy", "schedulingPolicy", "minAvailable"), None),
        (
            ROLES,
            ("metadata", "annotations", "rbg.workloads.x-k8s.io/group-gang-scheduling"),
            "true",
        ),
    ],
    ids=["too small", "placeholder", "counted by the operator", "enabled"],
)
def test_a_gang_that_the_kind_makes_itself(text: str, path: Path, value: Any) -> None:
    data, found = apply(text, CLUSTERS["volcano"], **ON_REQUEST)
    assert lookup(data, path) == value
    assert found.objects == ()


@pytest.mark.parametrize("target_name", ["koordinator", "yunikorn", "kubernetes"])
def test_a_size_that_stands_there_is_that_of_the_gang(target_name: str) -> None:
    """Though another scheduler reads it: the kind's controller does too."""
    job = VOLCANO_JOB.replace("spec: {", "spec: {minAvailable: 1, schedulerName: other, ")
    assert apply(job, CLUSTERS[target_name], **ON_REQUEST)[0]["spec"]["minAvailable"] == 4
    torch = PYTORCH_JOB.replace("spec: {", RUN_POLICY.replace("NUMBER", "1"), 1)
    path = ("spec", "runPolicy", "schedulingPolicy", "minAvailable")
    assert lookup(apply(torch, CLUSTERS[target_name], **ON_REQUEST)[0], path) == 4
    assert lookup(apply(PYTORCH_JOB, CLUSTERS[target_name], **ON_REQUEST)[0], path) is None


def test_a_size_of_the_policy_is_written_for_a_kind_that_counts_by_itself() -> None:
    cluster = policy(asking("volcano", {"volcano": {}}, gang={"size": 3}))
    path = ("spec", "runPolicy", "schedulingPolicy", "minAvailable")
    assert lookup(apply(PYTORCH_JOB, cluster, **ON_REQUEST)[0], path) == 3
    larger = policy(asking("volcano", {"volcano": {}}, gang={"size": 30}))
    # All of them is what the operator counts without being told.
    assert lookup(apply(PYTORCH_JOB, larger, **ON_REQUEST)[0], path) is None


@pytest.mark.parametrize(
    ("target_name", "metadata", "words"),
    [
        ("koordinator", f"labels: {{{KOORDINATED}: own}}", "gang own"),
        ("volcano", f"annotations: {{{GROUP_NAME}: own}}", "gang own"),
        ("yunikorn", "labels: {applicationId: own}", "application own"),
    ],
    ids=["koordinator", "volcano", "yunikorn"],
)
def test_a_gang_of_the_users_own_stays(target_name: str, metadata: str, words: str) -> None:
    text = JOB.replace("template: {spec", f"template: {{metadata: {{{metadata}}}, spec")
    _, found = apply(text, CLUSTERS[target_name], **ON_REQUEST)
    assert f"its pods are in {words} already: left unchanged" in found.notes
    assert found.objects == ()
    keys = {key for entries in added(text, target_name).values() for key in entries}
    assert not keys & {KOORDINATED, GROUP_NAME, MIN_MEMBER, TASK_GROUPS, "yunikorn.apache.org/app-id"}


def test_a_gang_by_annotations_becomes_one_by_a_pod_group() -> None:
    plain = policy(asking("koord-scheduler", {"koordinator": {}}, gang="all"))
    first, found = apply(JOB, plain, **ON_REQUEST)
    assert found.objects == ()
    annotation = "gang.scheduling.koordinator.sh/name"
    assert carried(first)["pod"][annotation] == "a"
    second, found = apply(dump(first), CLUSTERS["koordinator"], **ON_REQUEST)
    assert (carried(second)["pod"][KOORDINATED], len(found.objects)) == ("a", 1)
    # Back again: the label is what counts.
    _, found = apply(dump(second), plain, **ON_REQUEST)
    assert found.notes == ("its pods are in gang a already: left unchanged",)


def test_several_gangs_of_one_template_are_told() -> None:
    _, found = apply(GROUPS, CLUSTERS["koordinator"], **ON_REQUEST)
    assert found.notes == (
        "it makes several gangs from one template, which cannot name each of them: no gang is declared",
    )
    data, _ = apply(GROUPS.replace("replicas: 2", "replicas: 1"), CLUSTERS["koordinator"], **ON_REQUEST)
    assert carried(data)["worker"][KOORDINATED] == "a"


def test_what_a_scheduler_cannot_be_told_is_a_notice() -> None:
    _, found = apply(DEPLOYMENT, CLUSTERS["volcano"], **ON_REQUEST)
    assert [notice.split(":")[0] for notice in found.notices] == [
        "each ReplicaSet of a Deployment is a gang of its own, so 3 new pods start together or not at all"
    ]
    assert found.notes == ()


@pytest.mark.parametrize("target_name", TARGETS)
@pytest.mark.parametrize("kind", KINDS)
def test_twice_changes_nothing_more(target_name: str, kind: str) -> None:
    data, found = apply(KINDS[kind], CLUSTERS[target_name], **ON_REQUEST)
    _, again = apply(dump(data), CLUSTERS[target_name], **ON_REQUEST)
    assert again.patches == ()
    assert again.objects == found.objects
