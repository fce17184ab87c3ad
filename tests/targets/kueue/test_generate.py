"""What is generated for Kueue: flavors, quotas by flavor, the tree of queues and what cannot be said."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from policykit.errors import PolicykitError
from policykit.model.cluster import Cluster
from policykit.targets.kueue.generate import generate
from tests.clusters import policy, profile
from tests.targets.kueue.clusters import GPU, POOLS, teams

WITHIN = {"training": {"usages": ["training"], "within": {"level": "rack", "mode": "hard"}}}
EVERY_NODE = {name: {**each, "topology": {"zone": "a", "rack": name}} for name, each in POOLS.items()}


def objects(cluster: Cluster, file: str = "queues") -> dict[str, Any]:
    """`Kind name` to the object, of one generated file."""
    text = next((each.text for each in generate(cluster).artifacts if each.path == f"kueue/{file}.yaml"), "")
    found = [each for each in yaml.safe_load_all(text) if each]
    return {f"{each['kind']} {each['metadata']['name']}": each for each in found}


def messages(cluster: Cluster) -> list[str]:
    return [notice.message for notice in generate(cluster).notices]


def quotas(found: dict[str, Any], resource: str = GPU) -> dict[str, dict[str, tuple[str, ...]]]:
    """Object to flavor to nominalQuota, borrowingLimit and lendingLimit of a resource."""
    fields = ("nominalQuota", "borrowingLimit", "lendingLimit")
    return {
        name: {
            flavor["name"]: tuple(quota.get(field, "-") for field in fields)
            for group in each.get("spec", {}).get("resourceGroups", ())
            for flavor in group["flavors"]
            for quota in flavor["resources"]
            if quota["name"] == resource
        }
        for name, each in found.items()
    }


def test_nothing_without_the_target() -> None:
    assert generate(profile("hybrid-volcano")) == ((), ())


def test_a_flavor_for_each_pool() -> None:
    found = objects(teams(), "flavors")
    taints = [
        {"key": "a.example.com/node.usage", "value": "training", "effect": "NoSchedule"},
        {"key": "nvidia.com/gpu.product", "value": "NVIDIA-H20", "effect": "NoSchedule"},
    ]
    assert found["ResourceFlavor train"] == {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "ResourceFlavor",
        "metadata": {"name": "train"},
        "spec": {
            "nodeLabels": {
                "a.example.com/node.usage": "training",
                "a.example.com/rack": "r1",
                "nvidia.com/gpu.product": "NVIDIA-H20",
                "topology.kubernetes.io/zone": "a",
            },
            "nodeTaints": taints,
        },
    }


def test_pools_that_look_alike_share_a_flavor() -> None:
    twice = {"a": POOLS["train"], "b": {**POOLS["train"], "nodes": 3}, "bare": {"nodes": 1}}
    cluster = teams(pools=twice, queues={"q": {"limit": {"h20": 8}}})
    assert list(objects(cluster, "flavors")) == ["ResourceFlavor a", "ResourceFlavor bare"]
    assert quotas(objects(cluster))["Cohort root"] == {"a": ("56", "-", "-"), "bare": ("0", "-", "-")}
    assert messages(cluster)[:2] == [
        "pools a and b have the same labels: they share the flavor a, and its quota",
        "pool bare has no labels of its own: flavor bare selects every node. Give the pool a usage, a "
        "card or labels",
    ]


FORMER = {"usages": {"training": ["batch"]}}


def test_a_flavor_selects_no_label_that_nodes_have_under_either_name() -> None:
    """Kueue would send what it admits to the nodes that are changed already: at first there are none."""
    there = teams(formerly=FORMER)
    flavor = objects(there, "flavors")["ResourceFlavor train"]["spec"]
    assert "a.example.com/node.usage" not in flavor["nodeLabels"]
    assert "nvidia.com/gpu.product" in flavor["nodeLabels"]
    assert {"key": "a.example.com/node.usage", "value": "training", "effect": "NoSchedule"} in flavor[
        "nodeTaints"
    ]
    assert messages(there)[:1] == [
        "flavor train does not select a.example.com/node.usage while `formerly:` has former values of it: "
        "nodes have either, and the affinity of the pods accepts both"
    ]
    others = [name for name in objects(teams(), "flavors") if name != "ResourceFlavor train"]
    assert {name: objects(there, "flavors")[name] for name in others} == {
        name: objects(teams(), "flavors")[name] for name in others
    }


def test_a_flavor_with_a_topology_cannot_be_changed() -> None:
    kinds = {"training": {"usages": ["training"], "scheduler": "kueue", "within": {"level": "rack"}}}
    there = teams(formerly=FORMER, workloads=kinds)
    flavor = objects(there, "flavors")["ResourceFlavor train"]["spec"]
    assert flavor["nodeLabels"]["a.example.com/node.usage"] == "training"
    assert any(
        each.startswith("flavor train selects the present value of a.example.com/node.usage, although")
        for each in messages(there)
    )


def test_tolerations_that_admission_adds() -> None:
    gke = {
        "scheme": "gke",
        "pools": {"train": {**POOLS["train"], "nodes": 4, "topology": None}},
        "cards": {"h20": {"product": "NVIDIA-H20"}},
        "targets": {"kueue": {}},
    }
    found = objects(policy({**gke, "domain": "a.example.com"}), "flavors")
    (flavor,) = found.values()
    assert {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"} in flavor["spec"][
        "tolerations"
    ]


QUEUES = {
    "research": {"deserved": {"h20": 24}, "limit": {"h20": 28}, "guarantee": {"h20": 10}, "pools": ["train"]},
    "team-a": {"parent": "research", "deserved": {"h20": 16}, "guarantee": {"h20": 8}},
    "team-b": {"parent": "research", "limit": {"h20": 8}},
    "serving": {"guarantee": {"h20": 16}, "pools": ["infer"]},
}


def test_the_tree() -> None:
    found = objects(teams(queues=QUEUES))
    assert list(found) == [
        "Cohort root",
        "Cohort research",
        "ClusterQueue team-a",
        "ClusterQueue team-b",
        "ClusterQueue serving",
    ]
    assert quotas(found) == {
        "Cohort root": {"train": ("8", "-", "-"), "infer": ("0", "-", "-")},
        "Cohort research": {"train": ("8", "4", "14")},
        "ClusterQueue team-a": {"train": ("16", "-", "8")},
        "ClusterQueue team-b": {"train": ("0", "8", "-")},
        "ClusterQueue serving": {"infer": ("16", "-", "0")},
    }
    parents = {
        name: each["spec"].get("parentName", each["spec"].get("cohortName")) for name, each in found.items()
    }
    assert list(parents.values()) == [None, "root", "research", "research", "root"]


def test_resources_that_a_queue_does_not_state_follow_those_it_does() -> None:
    """24 of 32 cards deserve three quarters of the cores; of them team-a has two thirds."""
    found = quotas(objects(teams(queues=QUEUES)), "cpu")
    assert found == {
        "Cohort root": {"train": ("160", "-", "-"), "infer": ("0", "-", "-")},
        "Cohort research": {"train": ("160", "-", "-")},
        "ClusterQueue team-a": {"train": ("320", "-", "-")},
        "ClusterQueue team-b": {"train": ("0", "-", "-")},
        "ClusterQueue serving": {"infer": ("320", "-", "-")},
    }


def test_amounts_are_split_over_flavors() -> None:
    cluster = teams(queues={"q": {"deserved": {"h20": 10}, "guarantee": {"h20": 4}, "limit": {"h20": 20}}})
    assert quotas(objects(cluster))["ClusterQueue q"] == {
        "train": ("7", "13", "4"),
        "infer": ("3", "17", "2"),
    }
    assert messages(cluster) == [
        "queue q: Kueue counts limits by flavor, so it may use 20 nvidia.com/gpu in each of train, infer. "
        "Nearest: pools of the queue"
    ]


@pytest.mark.parametrize(
    ("pools", "expected"),
    [
        ({"preferred": ["infer"]}, ["infer", "train"]),
        ({"avoided": ["train"]}, ["infer", "train"]),
        ({"excluded": ["infer"]}, ["train"]),
        (["infer"], ["infer"]),
    ],
)
def test_pools_of_a_queue(pools: Any, expected: list[str]) -> None:
    cluster = teams(queues={"q": {"deserved": {"h20": 1}, "pools": pools}})
    assert list(quotas(objects(cluster))["ClusterQueue q"]) == expected


def test_no_pool_is_left() -> None:
    cluster = teams(queues={"q": {"pools": {"excluded": ["train", "infer"]}}})
    with pytest.raises(PolicykitError) as raised:
        generate(cluster)
    assert raised.value.message == "queue q may use no pool: all of them are excluded"


def test_an_unknown_number_of_nodes() -> None:
    """Of what nobody counts the cohort has what the limits add up to."""
    pools = {"train": {**POOLS["train"], "nodes": {"min": 1}, "topology": None}}
    queues = {"a": {"deserved": {"h20": 8}, "limit": {"h20": 24}}, "b": {"deserved": {"h20": 8}}}
    cluster = teams(pools=pools, queues=queues)
    assert quotas(objects(cluster))["Cohort root"] == {"train": ("16", "-", "-")}
    assert messages(cluster) == [
        "flavor train: how much cpu, memory, nvidia.com/gpu its nodes have is unknown, so queues without a "
        "limit have only what they deserve. Set allocatable and the number of nodes, or limits"
    ]


def test_what_no_quota_covers() -> None:
    pools = {"train": {"usage": "training", "card": "h20", "nodes": 2}}
    cluster = teams(pools=pools, queues={"a": {"deserved": {"h20": 8}}})
    assert objects(cluster)["ClusterQueue a"]["spec"]["resourceGroups"][0]["coveredResources"] == [GPU]
    assert messages(cluster) == [
        "cpu and memory: no queue and no pool states an amount, so no quota covers it, and Kueue admits no "
        "workload that requests it. Set allocatable on the pools, or list it in "
        "resources.excludeResourcePrefixes of Kueue's Configuration"
    ]


def test_a_queue_with_children_and_workloads() -> None:
    tenants = {"lab": {"namespaces": ["lab"], "queue": "research"}}
    cluster = teams(queues=QUEUES, tenants=tenants)
    found = objects(cluster)
    assert found["ClusterQueue research"]["spec"]["cohortName"] == "research"
    assert quotas(found)["ClusterQueue research"] == {"train": ("0", "-", "-")}
    assert objects(cluster, "local-queues") == {
        "LocalQueue research": {
            "apiVersion": "kueue.x-k8s.io/v1beta2",
            "kind": "LocalQueue",
            "metadata": {
                "name": "research",
                "namespace": "lab",
                "annotations": {"policykit.io/tenant": "lab"},
            },
            "spec": {"clusterQueue": "research"},
        }
    }
    assert (
        "queue research has children and workloads of its own: next to its Cohort it becomes a ClusterQueue "
        "of the same name without quota, which borrows from the Cohort"
    ) in messages(cluster)


def test_topologies_have_the_levels_that_all_nodes_have() -> None:
    found = objects(teams(workloads=WITHIN), "topologies")
    keys = {name: [each["nodeLabel"] for each in data["spec"]["levels"]] for name, data in found.items()}
    assert keys == {
        "Topology hostname": ["kubernetes.io/hostname"],
        "Topology zone-rack-hostname": [
            "topology.kubernetes.io/zone",
            "a.example.com/rack",
            "kubernetes.io/hostname",
        ],
    }
    flavors = objects(teams(workloads=WITHIN), "flavors")
    assert [each["spec"]["topologyName"] for each in flavors.values()] == ["zone-rack-hostname", "hostname"]


def test_no_topology_unless_a_kind_wants_one() -> None:
    assert objects(teams(pools=EVERY_NODE), "topologies") == {}


@pytest.mark.parametrize(
    ("version", "written", "expected"),
    [
        (
            "0.10",
            False,
            "Kueue 0.10.6 has no topologies for queues in a cohort (added in 0.11.0): within of training is "
            "not written",
        ),
        (
            "0.13",
            True,
            "Kueue 0.13.10 reads topologies only with feature gate TopologyAwareScheduling, which is on by "
            "default from 0.14.0",
        ),
    ],
)
def test_topologies_by_release(version: str, written: bool, expected: str) -> None:
    cluster = teams(workloads=WITHIN, pools=EVERY_NODE, targets={"kueue": {"version": version}})
    assert bool(objects(cluster, "topologies")) is written
    assert expected in messages(cluster)


@pytest.mark.parametrize(
    ("sections", "expected"),
    [
        (
            {"queues": {"q": {"submit": {"groups": ["team"]}}}},
            "queue q: Kueue has no users or groups. Restrict by RBAC who may create LocalQueues, and "
            "workloads in the namespaces that have one",
        ),
        (
            {"queues": {"q": {"reclaimable": False}}},
            "queue q: Kueue cannot exempt a queue from reclaim. Nearest: a limit equal to what it deserves, "
            "so that it borrows nothing",
        ),
        (
            {"queues": {"q": {"priority": 3}}},
            "queue q: ClusterQueues have no priority. Nearest: priorities of the workloads",
        ),
        (
            {"queues": {"q": {"weight": 3}}},
            "queue q: Kueue reads weights only with fair sharing. Enable it in Kueue's Configuration, and "
            "set targets.kueue.fairSharing",
        ),
        (
            {
                "queues": {"q": {"weight": 3}, "r": {"parent": "q"}},
                "targets": {"kueue": {"version": "0.10", "fairSharing": True}},
            },
            "queue q: Cohorts of Kueue 0.10.6 have no weight (added in 0.11.0)",
        ),
        (
            {"priorities": {"calm": {"value": 1, "preempts": False}}},
            "priority calm: a WorkloadPriorityClass has no preemptionPolicy, so its workloads preempt as "
            "their queue allows",
        ),
        (
            {"queues": {"q": {}}, "workloads": {"training": {"queue": "q"}}},
            "workload kind training uses queue q in any namespace, but a LocalQueue belongs to one: name the "
            "kind's namespaces, or give the queue to tenants",
        ),
        (
            {"workloads": {"training": {"gang": {"timeout": "10m"}}}},
            "workload kind training: Kueue has one timeout for all workloads: waitForPodsReady in its "
            "Configuration",
        ),
    ],
    ids=["submit", "reclaimable", "priority", "weight", "cohort weight", "preempts", "namespaces", "timeout"],
)
def test_what_kueue_cannot_say(sections: dict[str, Any], expected: str) -> None:
    assert expected in messages(teams(**sections))


@pytest.mark.parametrize(
    ("pools", "version", "refused"),
    [(16, "0.13", False), (17, "0.13", True), (17, "0.14", False), (65, "0.19", True)],
)
def test_as_many_flavors_as_the_release_allows(pools: int, version: str, refused: bool) -> None:
    many = {f"p{number}": {"nodes": 1, "labels": {"pool": str(number)}} for number in range(pools)}
    cluster = teams(pools=many, queues={"q": {"limit": {"cpu": 1}}}, targets={"kueue": {"version": version}})
    if not refused:
        assert generate(cluster).artifacts
        return
    with pytest.raises(PolicykitError) as raised:
        generate(cluster)
    assert raised.value.message.startswith(f"the queues share {pools} flavors, but Kueue 0.")
