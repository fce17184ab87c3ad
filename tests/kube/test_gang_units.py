"""Which pods of an object wait for each other, and which take a domain for themselves."""

from typing import Any

import pytest

from policykit.kube.exclusive import has_own_domain
from policykit.kube.gang_units import largest_unit
from policykit.kube.instances import instance_sizes
from policykit.kube.podsets import pod_sets
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
