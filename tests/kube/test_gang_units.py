"""Pods that start together: instances, units, jobs, and the parts that a minimum counts."""

from typing import Any

import pytest

from policykit.kube.gang_units import (
    MinimumScope,
    all_at_once,
    goes_on_with_fewer,
    has_own_domain,
    instance_sizes,
    largest_unit,
    minimum_scope,
)
from policykit.kube.podsets import gangs, pod_sets
from policykit.manifests.document import Manifest
from policykit.manifests.node import Lines, Node

RBG = ("workloads.x-k8s.io/v1alpha2", "RoleBasedGroup")
OLD_RBG = ("workloads.x-k8s.io/v1alpha1", "RoleBasedGroup")
STORM = ("orchestration.aibrix.ai/v1alpha1", "StormService")
LWS = ("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet")
JOB_SET = ("jobset.x-k8s.io/v1alpha2", "JobSet")
RACK = "example.com/rack"
POD = {"spec": {"containers": [{"name": "main"}]}}


def manifest(kind: tuple[str, str], spec: Any, annotations: Any = None) -> Manifest:
    metadata = {"name": "one", "annotations": annotations}
    data = {"apiVersion": kind[0], "kind": kind[1], "metadata": metadata, "spec": spec}
    return Manifest(data, Node(data, 0, Lines(""), {}, None), 0)


@pytest.mark.parametrize(
    ("kind", "role", "expected"),
    [
        (RBG, {"standalonePattern": {}, "replicas": 4}, 1),
        (RBG, {"leaderWorkerPattern": {"size": 4}}, 4),
        (RBG, {"leaderWorkerPattern": {}}, 1),
        (RBG, {"leaderWorkerPattern": {"size": "${SIZE}"}}, None),
        (RBG, {"customComponentsPattern": {"components": [{"size": 2}, {}]}}, 3),
        (RBG, {"customComponentsPattern": {"components": [{"size": "x"}, {}]}}, None),
        (OLD_RBG, {"leaderWorkerSet": {"size": 2}}, 2),
        (OLD_RBG, {"components": [{"size": 2}, {"size": 1}]}, 3),
        (OLD_RBG, {"leaderWorkerSet": []}, 1),
        (STORM, {"podGroupSize": 2}, 2),
        (STORM, {"podGroupSize": True}, None),
        (STORM, {}, 1),
    ],
    ids=[
        "standalone", "leader-worker", "no-size", "placeholder", "components", "a-component-unknown",
        "old-leader-worker", "old-components", "odd-shape", "aibrix", "no-number", "aibrix-default",
    ],
)  # fmt: skip
def test_pods_of_one_instance(kind: tuple[str, str], role: Any, expected: int | None) -> None:
    place = ("spec", "template", "spec", "roles") if kind == STORM else ("spec", "roles")
    spec = {"template": {"spec": {"roles": [None, role]}}} if kind == STORM else {"roles": [None, role]}
    assert instance_sizes(manifest(kind, spec)) == {(*place, 1): expected}


@pytest.mark.parametrize("roles", [None, "x", {}, [None], [1]], ids=repr)
def test_roles_of_an_odd_shape_are_none(roles: Any) -> None:
    assert instance_sizes(manifest(RBG, {"roles": roles})) == {}


def test_other_kinds_have_no_instances() -> None:
    assert instance_sizes(manifest(LWS, {})) is None


@pytest.mark.parametrize(
    ("kind", "spec", "expected"),
    [
        (
            RBG,
            {
                "roles": [
                    {"replicas": 3, "standalonePattern": {"template": POD}},
                    {"replicas": 2, "leaderWorkerPattern": {"size": 4, "template": POD}},
                ]
            },
            4,
        ),
        (RBG, {"roles": [{"replicas": 3, "standalonePattern": {"template": POD}}]}, 1),
        (RBG, {"roles": [{"replicas": 3, "leaderWorkerPattern": {"size": "x", "template": POD}}]}, None),
        (
            RBG,
            {
                "roles": [
                    {
                        "replicas": 2,
                        "customComponentsPattern": {
                            "components": [{"size": 1, "template": POD}, {"size": 2, "template": POD}]
                        },
                    }
                ]
            },
            3,
        ),
        (LWS, {"replicas": 2, "leaderWorkerTemplate": {"size": 4, "workerTemplate": POD}}, 4),
        (LWS, {"replicas": "${N}", "leaderWorkerTemplate": {"size": 4, "workerTemplate": POD}}, None),
    ],
    ids=["mixed-roles", "servers", "no-number", "components", "groups", "placeholder"],
)
def test_pods_of_one_unit(kind: tuple[str, str], spec: Any, expected: int | None) -> None:
    one = manifest(kind, spec)
    sets = pod_sets(one.data)
    unit = largest_unit(one, sets, sets)
    assert (unit.pods if unit else None) == expected


@pytest.mark.parametrize(
    ("kind", "key", "spec", "expected"),
    [
        (LWS, "leaderworkerset.sigs.k8s.io/exclusive-topology", {"replicas": 2}, True),
        (LWS, "leaderworkerset.sigs.k8s.io/subgroup-exclusive-topology", {}, False),
        (RBG, "rbg.workloads.x-k8s.io/group-exclusive-topology", {}, True),
        (JOB_SET, "alpha.jobset.sigs.k8s.io/exclusive-topology", {"replicatedJobs": [{}]}, True),
        (JOB_SET, "alpha.jobset.sigs.k8s.io/exclusive-topology", {"replicatedJobs": [{}, {}]}, False),
        (
            JOB_SET,
            "alpha.jobset.sigs.k8s.io/exclusive-topology",
            {"replicatedJobs": [{"replicas": 2}]},
            False,
        ),
        (JOB_SET, "alpha.jobset.sigs.k8s.io/exclusive-topology", None, False),
        (JOB_SET, "leaderworkerset.sigs.k8s.io/exclusive-topology", {"replicatedJobs": [{}]}, False),
    ],
    ids=["groups", "parts-of-groups", "roles", "one-job", "two-jobs", "replicated", "no-spec", "another-key"],
)
def test_a_domain_of_their_own(kind: tuple[str, str], key: str, spec: Any, expected: bool) -> None:
    assert has_own_domain(manifest(kind, spec, {key: RACK})) is expected


def test_a_domain_that_the_child_job_asks_for() -> None:
    annotations = {"alpha.jobset.sigs.k8s.io/exclusive-topology": RACK}
    spec = {"replicatedJobs": [{"template": {"metadata": {"annotations": annotations}}}]}
    assert has_own_domain(manifest(JOB_SET, spec))


INDEXED = {"completionMode": "Indexed", "parallelism": 4, "completions": 4}


def job_manifest(api_version: str, kind: str, spec: Any) -> Manifest:
    data = {"apiVersion": api_version, "kind": kind, "spec": spec}
    return Manifest(data, Node(data, 0, Lines(""), {}, None), 0)


@pytest.mark.parametrize(
    ("api_version", "kind", "spec", "expected"),
    [
        ("batch/v1", "Job", INDEXED, True),
        ("batch/v1", "CronJob", {"jobTemplate": {"spec": INDEXED}}, True),
        ("batch/v1", "Job", {**INDEXED, "completions": 8}, False),
        ("batch/v1", "Job", {**INDEXED, "completionMode": "NonIndexed"}, False),
        ("batch/v1", "Job", {"completionMode": "Indexed", "parallelism": 1, "completions": 1}, False),
        ("batch/v1", "Job", {"parallelism": 4}, False),
        ("batch/v1", "Job", {**INDEXED, "parallelism": "${N}", "completions": "${N}"}, False),
        ("batch.volcano.sh/v1alpha1", "Job", INDEXED, False),
        ("batch/v1", "Job", None, False),
    ],
    ids=[
        "indexed", "in-a-cronjob", "in-waves", "independent", "one", "work-queue", "placeholder", "volcano",
        "no-spec",
    ],
)  # fmt: skip
def test_all_at_once(api_version: str, kind: str, spec: Any, expected: bool) -> None:
    assert all_at_once(job_manifest(api_version, kind, spec)) is expected


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"elasticPolicy": {"minReplicas": 1}, "pytorchReplicaSpecs": {"Worker": {}}}, True),
        ({"tfReplicaSpecs": {"PS": {}, "Worker": {}}}, True),
        ({"tfReplicaSpecs": {"Chief": {}, "Worker": {}}}, False),
        ({"tasks": [{"name": "ps"}, {"name": "worker"}]}, True),
        ({"tasks": [{"name": "worker", "partitionPolicy": {}}]}, True),
        ({"tasks": [{"name": "worker"}, None]}, False),
        ({"tasks": "worker", "mpiReplicaSpecs": ["Worker"]}, False),
        (None, False),
    ],
    ids=["elastic", "ps", "chief", "ps-task", "partitions", "workers", "odd-shapes", "no-spec"],
)
def test_goes_on_with_fewer(spec: Any, expected: bool) -> None:
    assert goes_on_with_fewer(job_manifest("example.com/v1", "Any", spec)) is expected


POD = {"spec": {"containers": [{"name": "main"}]}}
VOLCANO = ("batch.volcano.sh/v1alpha1", "Job")
GROVE = ("grove.io/v1alpha1", "PodCliqueSet")
KTHENA = ("workload.serving.volcano.sh/v1alpha1", "ModelServing")
AIBRIX = ("orchestration.aibrix.ai/v1alpha1", "RoleSet")


def parts(kind: tuple[str, str], spec: Any) -> list[MinimumScope]:
    data = {"apiVersion": kind[0], "kind": kind[1], "metadata": {"name": "one"}, "spec": spec}
    one = Manifest(data, Node(data, 0, Lines(""), {}, None), 0)
    sets = pod_sets(data)
    return [minimum_scope(one, minimum, sets) for gang in gangs(data) for minimum in gang.minima]


def job(**task: Any) -> Any:
    return {"tasks": [{"name": "worker", "minAvailable": 2, "template": POD, **task}]}


def cliques(group: Any = None, **spec: Any) -> Any:
    template: dict[str, Any] = {
        "cliques": [{"name": "decode", "spec": {"minAvailable": 2, "podSpec": POD["spec"], **spec}}]
    }
    if group is not None:
        template["podCliqueScalingGroups"] = [{"name": "wide", "minAvailable": 2, "cliqueNames": [], **group}]
    return {"replicas": 3, "template": template}


def roles(listed: Any, **least: Any) -> Any:
    return {"template": {"roles": listed, "gangPolicy": {"minRoleReplicas": least}}}


def serving(**role: Any) -> Any:
    strategy = {"volcanoSchedulingStrategy": {"minMember": 2}}
    return {"roles": [{"name": "decode", "schedulingStrategy": strategy, "template": POD, **role}]}


@pytest.mark.parametrize(
    ("kind", "spec", "expected"),
    [
        (VOLCANO, job(replicas=4), [MinimumScope("task worker", 4)]),
        (VOLCANO, job(), [MinimumScope("task worker", 0)]),
        (VOLCANO, job(replicas="${N}", name=None), [MinimumScope("this task", None)]),
        (GROVE, cliques(replicas=4), [MinimumScope("clique decode", 4)]),
        (GROVE, cliques(replicas=0), [MinimumScope("clique decode", 1)]),
        (GROVE, cliques(), [MinimumScope("clique decode", 1)]),
        (
            GROVE,
            cliques({"replicas": 4}),
            [MinimumScope("clique decode", 1), MinimumScope("group wide", 4, "replica")],
        ),
        (GROVE, cliques({}), [MinimumScope("clique decode", 1), MinimumScope("group wide", 1, "replica")]),
        (KTHENA, roles([{"name": "a", "entryTemplate": POD}], a=2), [MinimumScope("role a", 1, "replica")]),
        (
            KTHENA,
            roles([{"name": "a", "entryTemplate": POD}], b=2),
            [MinimumScope("role b, which is not among the roles,", 0, "replica")],
        ),
        (
            KTHENA,
            roles([{"name": "{{ a }}", "entryTemplate": POD}], b=2),
            [MinimumScope("role b, which is not among the roles,", None, "replica")],
        ),
        (AIBRIX, serving(podGroupSize=4, replicas=9), [MinimumScope("role decode", 4)]),
        (AIBRIX, serving(replicas=9), [MinimumScope("role decode", None)]),
    ],
    ids=[
        "task", "no-replicas", "placeholder", "clique", "clique-of-0", "clique-without", "group",
        "group-without", "role", "role-not-there", "role-filled-in", "instance", "single-pods",
    ],
)  # fmt: skip
def test_what_there_is_of_a_part(kind: tuple[str, str], spec: Any, expected: list[MinimumScope]) -> None:
    assert parts(kind, spec) == expected
