"""Importing what `gen` wrote gives the policy back, in everything that those files can carry."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from policykit import bundled
from policykit.importer.policy import policy_of
from policykit.model import shared_cards
from policykit.model.cluster import Cluster
from policykit.model.pool import Pool, Shape
from policykit.model.queue import Queue
from policykit.model.workload import WorkloadKind
from policykit.policy.load import load
from policykit.targets import DEFAULT_SCHEDULER
from policykit.workspace.files import read
from tests.clusters import policy, profile
from tests.importer.cluster_files import as_file, generated, nodes_of
from tests.shared import ROOT

NEVER_CARRIED = {
    "lint": "settings of the linter are written nowhere",
    "output": "the folder does not know its own name in the policy; an import says `generated`",
    "node_forms": "which forms were asked for and which simply did not apply look alike",
    "complete": "that there are no other nodes cannot be read from nodes",
    "source": "the name of the file",
}
"""Fields of a Cluster that no generated file shows, and why."""

NEVER_CARRIED_BY_KINDS = {
    "gang_rule": "the schedulers are told by the workloads themselves, not by their placement",
    "placement_name": "stands in the configuration of the scheduler, not in a component",
    "placement": "is one of the inputs of the schedulers' weights, and not the only one",
    "role": "recognises manifests; an import takes it from the usages",
    "match": "recognises manifests, and is written into none",
    "namespaces": "is for the linter",
}
"""Fields of a WorkloadKind that no generated component shows, and why."""

ONLY_BY_NODES = {
    "allocatable": "generated files set labels and taints, they do not describe machines",
    "node_names": "a pool with nothing to set has no file that names its nodes",
    "kubernetes_version": "is what kubelets report",
}
"""What live nodes add to the generated folder."""

UNMARKED = ("on-prem-gpu-operator",)
"""Policies for which gen neither labels nor taints nodes, so the folder says nothing of their pools."""

EXAMPLES = sorted(path for path in (ROOT / "examples").rglob("policykit.yaml"))
SEED: dict[str, Any] = {
    "domain": "a.example.com",
    "cards": {"big": {"product": "NVIDIA-H20"}, "npu": {"product": "910B3"}},
    "pools": {
        "train": {"usage": "training", "card": "big", "nodes": 3, "topology": {"zone": "z1"}},
        "shapes": {
            "usage": "inference",
            "card": "big",
            "nodes": [
                {
                    "nodes": {"names": ["a-[1-4]"]},
                    "allocatable": {"cpu": 10, "memory": "20Gi"},
                    "labels": {"example.com/rack": "r1"},
                },
                {
                    "nodes": {"names": ["b-[1-3]"]},
                    "allocatable": {"cpu": 20, "memory": "20Gi"},
                    "labels": {"example.com/rack": "r2"},
                },
            ],
        },
        "ascend": {"usage": "training", "card": "npu", "nodes": {"min": 2, "max": 5}},
        "untainted": {
            "usage": "hybrid",
            "card": "big",
            "nodes": 2,
            "scheme": {"usage": {"taint": False}, "product": {"taint": False}},
        },
        "web": {"nodes": {"min": 1}, "labels": {"team": "web"}, "taints": ["dedicated=web:NoSchedule"]},
    },
    "workloads": {
        "training": {
            "usages": ["training", "hybrid"],
            "prefer": {"training": 60, "hybrid": 5},
            "scheduler": "volcano",
            "queue": "research",
            "priorityClass": "high",
        },
        "serving": {"usages": ["inference"], "cards": ["big"]},
        "web": {"cards": "none"},
    },
    "queues": {
        "research": {"weight": 2, "limit": {"cpu": 20, "big": 8}},
        "team": {"parent": "research", "priority": 3, "reclaimable": False},
    },
    "priorities": {"high": {"value": 5, "preempts": False, "description": "goes first"}},
    "quotas": {"team": {"requests": {"big": 4, "cpu": "500m"}, "limits": {"memory": "1Gi"}, "pods": 7}},
    "targets": {
        "volcano": {
            "version": "1.14.2",
            "delivery": "manifest",
            "namespace": "batch",
            "binpack": {"weight": 7},
        }
    },
}
PLAIN: dict[str, Any] = {
    "scheme": {
        "preset": "plain",
        "usage": {"key": "example.com/pool", "taint": {"effect": "NoExecute"}},
        "product": {"taint": {"key": "nvidia.com/gpu", "value": ""}},
        "controlPlane": {"key": "node-role.kubernetes.io/control-plane"},
    },
    "cards": {"l20": {"product": "NVIDIA-L20"}},
    "pools": {
        "t": {"usage": "train", "card": "l20", "nodes": 3, "cardsPerNode": 4},
        "i": {"usage": "infer", "card": "l20", "nodes": {"names": ["i-1"]}},
    },
    "workloads": {"serve": {"usages": ["infer"], "prefer": {"infer": 1}}, "any": {}},
    "targets": {"koordinator": {"version": "1.8.0", "delivery": "manifest"}},
}
GKE: dict[str, Any] = {
    "domain": "a.example.com",
    "scheme": "gke",
    "cards": {"h200": {"product": "NVIDIA-H200"}, "t": {"product": "tpu-v6e-slice"}},
    "pools": {
        "train": {"usage": "training", "card": "h200", "nodes": {"min": 0, "max": 3}},
        "tpu": {"usage": "inference", "card": "t", "nodes": 2},
        "cpu": {
            "nodes": {"selector": {"example.com/pool": "cpu"}},
            "taints": ["dedicated=batch:PreferNoSchedule"],
        },
    },
    "workloads": {"training": {"usages": ["training"]}, "serving": {"usages": ["inference"]}},
}
TOPOLOGY: dict[str, Any] = {
    "domain": "a.example.com",
    "scheme": {
        "preset": "seed",
        "topology": {"rack": "topology.example.com/rack", "switch": "example.com/s"},
    },
    "cards": {"h20": {"product": "NVIDIA-H20"}},
    "pools": {
        "train": {
            "usage": "training",
            "card": "h20",
            "nodes": {"names": ["gpu-[1-4]"]},
            "allocatable": {"cpu": 180},
            "topology": [
                {"nodes": ["gpu-[1-2]"], "zone": "z1", "rack": "r1", "nvlink": "n1"},
                {"nodes": ["gpu-3"], "zone": "z1", "rack": "r2", "nvlink": "n2"},
                {"nodes": ["gpu-4"], "zone": "z2"},
            ],
        },
        "serve": {
            "usage": "inference",
            "card": "h20",
            "nodes": 3,
            "topology": {"domain": "d", "rack": "r3"},
            "labels": {"a.example.com/hall": "3"},
        },
    },
    "workloads": {
        "training": {
            "usages": ["training"],
            "within": {"level": "rack", "mode": "hard"},
            "across": {"level": "node", "skew": 2},
        },
        "serving": {"usages": ["inference"], "across": {"level": "zone", "mode": "hard"}},
    },
}
EKS = {**GKE, "scheme": "eks", "cards": {"h200": {"product": "NVIDIA-H200"}}}
EKS["pools"] = {name: pool for name, pool in GKE["pools"].items() if name != "tpu"}
EKS["workloads"] = {"training": {"usages": ["training"]}}
ACK = {**EKS, "scheme": "ack"}
AKS = {**EKS, "scheme": "aks"}

CASES: dict[str, Cluster] = {
    **{name: profile(name) for name in bundled.names("profiles", suffix=".yaml")},
    **{str(path.relative_to(ROOT)): load(str(path), read).cluster for path in EXAMPLES},
    "seed": policy(SEED),
    "plain": policy(PLAIN),
    "gke": policy(GKE),
    "eks": policy(EKS),
    "ack": policy(ACK),
    "aks": policy(AKS),
    "topology": policy(TOPOLOGY),
}


def queues(cluster: Cluster) -> list[Queue]:
    """Volcano has `default` as it is; its webhook wants what is guaranteed stated as deserved."""
    kept = [queue for queue in cluster.queues if queue != Queue("default")]
    return sorted(queue._replace(deserved={**queue.guarantee, **queue.deserved}) for queue in kept)


def kind(cluster: Cluster, workload: WorkloadKind) -> WorkloadKind:
    """Every card that a pool of its usages has, or a list of them: the components are the same."""
    served = {
        pool.card
        for pool in cluster.pools
        if pool.card and (not workload.usages or pool.usage in workload.usages)
        if workload.cards is None or pool.card in workload.cards
    }
    blank = {field: WorkloadKind._field_defaults[field] for field in NEVER_CARRIED_BY_KINDS}
    gang = "" if workload.gang == "none" else workload.gang
    return workload._replace(**blank, gang=gang, cards=tuple(sorted(served)))


def shape(found: Shape, *, nodes: bool) -> Shape:
    return found._replace(allocatable=found.allocatable if nodes else {}, node_names=())


def pool(found: Pool, *, nodes: bool) -> Pool:
    shapes = tuple(shape(each, nodes=nodes) for each in found.shapes)
    # Why it is shared is for people: no file carries it.
    return found._replace(shapes=shapes, taints=tuple(sorted(found.taints)), shared_by_schedulers="")


def view(cluster: Cluster, *, nodes: bool) -> dict[str, Any]:
    """What must come back: field by field, in an order of its own where files have none."""
    fields = {name: value for name, value in cluster._asdict().items() if name not in NEVER_CARRIED}
    fields["pools"] = {each.name: pool(each, nodes=nodes) for each in cluster.pools}
    fields["workloads"] = {name: kind(cluster, each) for name, each in cluster.workloads.items()}
    fields["queues"] = queues(cluster)
    # A complete policy has it even where it names no scheduler.
    fields["schedulers"] = cluster.schedulers - {DEFAULT_SCHEDULER}
    fields["priorities"], fields["quotas"] = sorted(cluster.priorities), sorted(cluster.quotas, key=str)
    if not nodes:
        del fields["kubernetes_version"]
        fields["targets"] = {name: each for name, each in cluster.targets.items() if name != "kubernetes"}
        # How many a node has of a card outside the catalogue.
        fields["cards"] = {
            name: card if card.product else card._replace(per_node=0) for name, card in cluster.cards.items()
        }
    return fields


@pytest.mark.parametrize("case", CASES)
def test_the_generated_folder_and_its_nodes_give_the_policy_back(case: str) -> None:
    cluster = CASES[case]
    made = policy_of({**generated(cluster), "nodes.json": as_file(nodes_of(cluster))})
    wanted, found = view(cluster, nodes=True), view(made.cluster, nodes=True)
    for field in wanted:
        assert found[field] == wanted[field], field
    assert not [remark for remark in made.remarks if "is left out:" in remark]


@pytest.mark.parametrize("case", [case for case in CASES if case not in UNMARKED])
def test_the_generated_folder_alone_gives_all_but_the_machines(case: str) -> None:
    cluster = CASES[case]
    made = policy_of(generated(cluster))
    wanted, found = view(cluster, nodes=False), view(made.cluster, nodes=False)
    for each in cluster.pools:
        if each.sharing.mode in shared_cards.NAMES:  # only nodes tell
            bare = {"sharing": each.sharing, "resources": each.resources}
            found["pools"][each.name] = found["pools"][each.name]._replace(**bare)
            found["targets"] = wanted["targets"]
    for field in wanted:
        assert found[field] == wanted[field], field


@pytest.mark.parametrize("case", [case for case in CASES if case not in UNMARKED])
def test_names_of_nodes_come_back_where_a_file_says_them(case: str) -> None:
    cluster = CASES[case]
    made = policy_of(generated(cluster))
    for each in cluster.pools:
        named = {name for one in each.shapes for name in one.node_names}
        files = "".join(
            text.decode() for path, text in generated(cluster).items() if f"nodes/{each.name}/" in path
        )
        found = {name for one in made.cluster.pool(each.name).shapes for name in one.node_names}
        assert found == {name for name in named if name in files}


@pytest.mark.parametrize("case", CASES)
def test_what_was_imported_generates_the_same_placement(case: str) -> None:
    """The components are what other people's manifests rest on: byte for byte the same."""
    cluster = CASES[case]
    files = generated(cluster)
    made = generated(policy_of({**files, "nodes.json": as_file(nodes_of(cluster))}).cluster)
    for path, text in files.items():
        if "/workloads/" in path or path.endswith(("kubelet.env", "kubeadm.yaml", "taint.sh")):
            assert made[path] == text, path


def looks(cluster: Cluster) -> list[tuple[Any, ...]]:
    """Pools by what their nodes show, whatever they are called."""
    return sorted(
        (
            str(sorted({**each.labels, **one.labels, **one.selector}.items())),
            sorted(map(str, each.taints)),
            str(sorted(one.allocatable.items())),
            each.usage,
        )
        for each in cluster.pools
        for one in each.shapes
    )


@pytest.mark.parametrize(
    "case", [case for case in CASES if case not in ("koordinator-binpack", "eks", "aks")]
)
def test_the_nodes_alone_give_pools_that_look_the_same(case: str) -> None:
    """Left out: a made-up device is not a card by itself, and these clouds label no node of the test's."""
    cluster = CASES[case]
    made = policy_of({"nodes.json": as_file(nodes_of(cluster))})
    assert looks(made.cluster) == looks(cluster)
    assert made.cluster.usage_key == cluster.usage_key
    assert made.cluster.provider == cluster.provider
    assert made.cluster.control_plane_taint == cluster.control_plane_taint


def test_the_lists_of_what_is_not_carried_name_real_fields() -> None:
    assert NEVER_CARRIED.keys() < set(Cluster._fields)
    assert NEVER_CARRIED_BY_KINDS.keys() < set(WorkloadKind._fields)
    assert ONLY_BY_NODES.keys() < {*Shape._fields, *Cluster._fields}


def test_folders_are_read_in_any_place() -> None:
    cluster = profile("hybrid-volcano")
    here, there = generated(cluster, "."), generated(cluster, str(Path("/srv/clusters/prod/generated")))
    assert policy_of(here).text == policy_of(there).text
