"""Queues, tenants and options from Kueue's objects."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from policykit.importer.policy import policy_of
from policykit.manifests.writer import dump_all
from tests.importer.cluster_files import as_file, generated, nodes_of
from tests.targets.kueue.clusters import GPU, teams

TREE: dict[str, Any] = {
    "queues": {
        "research": {"deserved": {"h20": 24}, "limit": {"h20": 32}, "pools": ["train"]},
        "team-a": {"parent": "research", "deserved": {"h20": 16}, "guarantee": {"h20": 8}},
        "team-b": {"parent": "research", "limit": {"h20": 8, "cpu": 100}},
        "serving": {"guarantee": {"h20": 16}, "weight": 3},
    },
    "tenants": {
        "chat": {"namespaces": ["chat", "search"], "queue": "serving"},
        "a": {"namespaces": ["team-a"], "queue": "team-a"},
        "all": {"namespaces": ["lab"], "queue": "research"},
    },
    "priorities": {"low": {"value": 5, "description": "waits"}},
    "preemption": {"withinQueue": True, "reclaim": True},
    "targets": {
        "kueue": {
            "version": "0.19.2",
            "rootCohort": "cluster",
            "queueingStrategy": "StrictFIFO",
            "fairSharing": True,
            "flavorFungibility": {"whenCanBorrow": "TryNextFlavor"},
        }
    },
}
UNWEIGHTED = {name: {k: v for k, v in each.items() if k != "weight"} for name, each in TREE["queues"].items()}
BORROWING = {
    **TREE,
    "queues": UNWEIGHTED,
    "targets": {"kueue": {"borrowWithinCohort": {"maxPriorityThreshold": 4}}},
}


@pytest.mark.parametrize("version", ["0.9", "0.12", "0.13", "0.14", "0.15", "0.19"])
@pytest.mark.parametrize("sections", [TREE, BORROWING], ids=["options", "borrowing"])
def test_what_gen_wrote_comes_back(sections: dict[str, Any], version: str) -> None:
    target = {**sections["targets"]["kueue"], "version": version}
    before = teams(**{**sections, "targets": {"kueue": target}})
    after = policy_of({**generated(before), "nodes.json": as_file(nodes_of(before))}).cluster
    assert after.queues == before.queues
    assert sorted(after.tenants) == sorted(before.tenants)
    assert after.priorities == before.priorities
    assert after.preemption == before.preemption
    assert after.targets["kueue"].options == before.targets["kueue"].options
    ours = {path: text for path, text in generated(before).items() if "/kueue/" in path}
    assert {path: text for path, text in generated(after).items() if "/kueue/" in path} == ours


def imported(*objects: dict[str, Any]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The policy of objects, as data, with remarks; the nodes are those of the tests' pools."""
    nodes = as_file(nodes_of(teams()))
    found = policy_of({"nodes.json": nodes, "kueue.yaml": dump_all(objects).encode()})
    data: dict[str, Any] = yaml.safe_load(found.text)
    return data, found.remarks


def queue(name: str, cohort: str = "", **quota: Any) -> dict[str, Any]:
    resources = [{"name": GPU, "nominalQuota": quota.pop("nominal", 8), **quota}]
    flavors = [{"name": "h20", "resources": resources}]
    return {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "ClusterQueue",
        "metadata": {"name": name},
        "spec": {
            **({"cohortName": cohort} if cohort else {}),
            "namespaceSelector": {},
            "resourceGroups": [{"coveredResources": [GPU], "flavors": flavors}],
        },
    }


def local_queue(namespace: str, cluster_queue: str) -> dict[str, Any]:
    return {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "LocalQueue",
        "metadata": {"name": "main", "namespace": namespace},
        "spec": {"clusterQueue": cluster_queue},
    }


def test_objects_of_others() -> None:
    found, remarks = imported(
        queue("a", "shared", lendingLimit=3),
        queue("b", "shared", borrowingLimit=4, lendingLimit=0),
        local_queue("team-a", "a"),
        local_queue("lab", "a"),
    )
    assert found["queues"] == {
        "a": {"guarantee": {GPU: 5}, "deserved": {GPU: 8}},
        "b": {"guarantee": {GPU: 8}, "limit": {GPU: 12}},
    }
    assert found["tenants"] == {"a": {"namespaces": ["team-a", "lab"], "queue": "a"}}
    assert found["targets"]["kueue"] == {"rootCohort": "shared"}
    assert not [remark for remark in remarks if "Queue" in remark or "Cohort" in remark]


def test_several_cohorts_become_queues() -> None:
    found, remarks = imported(queue("a", "one"), queue("b", "two"))
    assert {name: each.get("parent") for name, each in found["queues"].items()} == {
        "one": None,
        "two": None,
        "a": "one",
        "b": "two",
    }
    assert "Cohorts one, two share no quota: the policy's queues without a parent share one root" in remarks


def test_a_queue_without_a_cohort_borrows_nothing() -> None:
    found, remarks = imported(queue("a"))
    assert found["queues"]["a"] == {"deserved": {GPU: 8}, "limit": {GPU: 8}}
    assert "ClusterQueue a is in no cohort: its quota is imported as its limit" in remarks


@pytest.mark.parametrize(
    ("image", "labels", "version"),
    [
        ("registry.k8s.io/kueue/kueue:v0.14.8", {}, "0.14.8"),
        ("kueue@sha256:12", {"app.kubernetes.io/version": "v0.19.2"}, "0.19.2"),
        ("kueue:latest", {}, None),
    ],
)
def test_the_release_of_the_controller(image: str, labels: dict[str, str], version: str | None) -> None:
    controller = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "kueue-controller-manager", "namespace": "kueue-system", "labels": labels},
        "spec": {"template": {"spec": {"containers": [{"name": "manager", "image": image}]}}},
    }
    made, remarks = imported(controller, queue("a", cpu="4"))
    assert made["targets"]["kueue"].get("version") == version
    assert any("set targets.kueue.version" in each for each in remarks) == (version is None)
