"""What the minimum of a task, role, clique or scaling group is held against."""

from typing import Any

import pytest

from policykit.kube.minimum_scopes import MinimumScope, minimum_scope
from policykit.kube.podsets import gangs, pod_sets
from policykit.manifests.document import Manifest
from policykit.manifests.node import Lines, Node

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
