"""Whatever nodes look like, the policy made of them loads, and judges pods as the nodes themselves would."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from policykit.errors import SourceError
from policykit.importer.node_differences import differences
from policykit.importer.node_labels import describes_purpose, is_transient
from policykit.importer.node_membership import Membership, membership
from policykit.importer.policy import ImportResult, policy_of
from policykit.kube import affinity, tolerations
from policykit.kube.nodes import labels_of
from policykit.kube.requests import effective
from policykit.model.cluster import Cluster
from policykit.model.pool import Pool
from policykit.placement.landing import injected, land
from policykit.policy.load import load_text
from policykit.workspace.files import read
from policykit.workspace.inputs import cluster_of_text
from tests.importer.cluster_files import as_file
from tests.importer.unusual_nodes import ODD, USAGE, gpu, node, nodes, with_cards

Spec = dict[str, Any]


def pod(cards: int = 0, resource: str = "nvidia.com/gpu", **spec: Any) -> Spec:
    requests = {"cpu": "1", **({resource: str(cards)} if cards else {})}
    return {"containers": [{"name": "main", "resources": {"requests": requests}}], **spec}


def tolerating(*keys: str) -> list[dict[str, str]]:
    return [{"key": key, "operator": "Exists"} for key in keys]


def required(key: str, *values: str) -> dict[str, Any]:
    terms = [{"matchExpressions": [{"key": key, "operator": "In", "values": list(values)}]}]
    selector = {"nodeSelectorTerms": terms}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": selector}}


PODS: dict[str, Spec] = {
    "plain": pod(),
    "large": pod()
    | {"containers": [{"name": "main", "resources": {"requests": {"cpu": "100", "memory": "1Ti"}}}]},
    "cards": pod(8, tolerations=[{"operator": "Exists"}]),
    "many cards": pod(16, tolerations=[{"operator": "Exists"}]),
    "a partition": pod(2, "nvidia.com/mig-1g.10gb", tolerations=[{"operator": "Exists"}]),
    "training": pod(
        1,
        affinity=required(USAGE, "training", "hybrid"),
        tolerations=tolerating(USAGE, "nvidia.com/gpu.product"),
    ),
    "by value": pod(
        1,
        tolerations=[
            {"key": USAGE, "value": "training", "effect": "NoSchedule"},
            {"key": "nvidia.com/gpu.product", "value": "NVIDIA-H20"},
        ],
    ),
    "by product": pod(
        1, nodeSelector={"nvidia.com/gpu.product": "NVIDIA-H20"}, tolerations=[{"operator": "Exists"}]
    ),
    "by zone": pod(nodeSelector={"topology.kubernetes.io/zone": "z1"}),
    "by team": pod(nodeSelector={"team": "web"}),
    "resource taint": pod(1, tolerations=tolerating("nvidia.com/gpu")),
    "NPU": pod(8, "huawei.com/Ascend910", tolerations=[{"operator": "Exists"}]),
}


def imported(made: Iterable[dict[str, Any]]) -> ImportResult:
    return policy_of({"nodes.json": as_file(list(made))})


def healthy(node: Pool) -> bool:
    """Neither cordoned, drained nor silent: what a policy says of a node holds of it today."""
    return (
        "cpu" in node.shapes[0].allocatable
        and not node.unschedulable
        and not any(map(is_transient, node.taints))
    )


def disagreements(cluster: Cluster, live: Cluster, where: Membership) -> list[str]:
    """Where a pool's verdict is not that of the most welcoming of its nodes."""
    found = []
    for pool in cluster.pools:
        pool_nodes = [pool_node.node for pool_node in where.pool_nodes if pool_node.pool.name == pool.name]
        if not pool_nodes or not all(map(healthy, pool_nodes)) or _failing(pool_nodes, pool):
            continue
        for case, spec in PODS.items():
            meant, *real = (
                verdict(c, p, pool, spec) for c, p in [(cluster, pool), *((live, n) for n in pool_nodes)]
            )
            best = "accepted" if "accepted" in real else "refused"
            allowed = {best} if _decidable(spec, pool_nodes) else {best, "undecidable"}
            if meant not in allowed:
                found.append(f"{case} in {pool.name}: {meant}, its nodes: {best}")
    return found


def verdict(cluster: Cluster, pool: Pool, meant: Pool, spec: Spec) -> str:
    """accepted, refused or undecidable; admission adds to the pod what it does for the pool meant."""
    requests = effective(spec)
    tolerated = (*tolerations.read(spec.get("tolerations")), *injected(meant, requests))
    landing = land(cluster, pool, tolerated, affinity.read(spec), requests)
    return "accepted" if landing.accepts else landing.verdict


def _failing(pool_nodes: Iterable[Pool], pool: Pool) -> bool:
    """Devices that are labelled but not offered come back: a policy counts them."""
    return any(not set(pool.resources) & set(node.resources) for node in pool_nodes if pool.resources)


def _decidable(spec: Spec, pool_nodes: Iterable[Pool]) -> bool:
    """Whether the pod asks only for labels that the nodes carry to be chosen by."""
    asked = affinity.read(spec)
    keys = set(asked.selector) | {r.key for term in asked.required or () for r in term.expressions}
    return all(key in labels_of(node) and describes_purpose(key, "x") for node in pool_nodes for key in keys)


@pytest.mark.parametrize("case", [case for case in ODD if case != "control plane"])
def test_an_odd_node_alone(case: str) -> None:
    made = imported([ODD[case]])
    live = cluster_of_text(as_file([ODD[case]]), "nodes.json")
    assert load_text(made.text.encode(), "policykit.yaml", read).cluster == made.cluster
    assert not [remark for remark in made.remarks if "is left out:" in remark]
    where = membership(made.cluster, live.pools)
    assert not where.unclaimed
    assert disagreements(made.cluster, live, where) == []


def test_all_odd_nodes_together() -> None:
    made = imported(ODD.values())
    live = cluster_of_text(as_file(list(ODD.values())), "nodes.json")
    where = membership(made.cluster, live.pools)
    assert [node.name for node in where.unclaimed] == []
    assert [node.name for node in where.control_plane] == ["cp-1"]
    assert disagreements(made.cluster, live, where) == []
    assert not [remark for remark in made.remarks if "is left out:" in remark]


def test_the_order_of_the_nodes_changes_nothing() -> None:
    given = list(ODD.values())
    assert imported(reversed(given)).text == imported(given).text


def test_a_node_pool_over_several_zones_is_found_by_its_label() -> None:
    pool = {"cloud.google.com/gke-nodepool": "train"}
    made = imported(node(f"n-{z}", {**pool, "topology.kubernetes.io/zone": z}) for z in ("a", "b"))
    (shape,) = made.cluster.pools[0].shapes
    assert (shape.selector, shape.node_names) == (pool, ())
    other = node("n-c", pool, [], {"cpu": "8", "memory": "32Gi"})
    (pool_of_two,) = imported([node("n-a", pool), other]).cluster.pools
    assert [shape.node_names for shape in pool_of_two.shapes] == [("n-a",), ("n-c",)]
    assert pool_of_two.labels == pool


def test_nodes_that_come_and_go_are_found_by_their_node_pool_and_machine() -> None:
    """Karpenter starts machines of several types, spot and not, under names that never come back."""

    def started(name: str, capacity: str, machine: str, cpu: str) -> dict[str, Any]:
        labels = {
            "karpenter.sh/nodepool": "serve",
            "karpenter.sh/capacity-type": capacity,
            "node.kubernetes.io/instance-type": machine,
            "topology.kubernetes.io/zone": f"z-{name}",
        }
        return node(name, labels, [], {"cpu": cpu, "memory": "32Gi", "pods": "110"})

    made = [
        started("ip-1", "spot", "c7i.2xlarge", "8"),
        started("ip-2", "on-demand", "c7i.2xlarge", "8"),
        started("ip-3", "on-demand", "c7i.4xlarge", "16"),
        started("ip-4", "on-demand", "c7i.4xlarge", "16"),
    ]
    pools = imported(made).cluster.pools
    found_by = [tuple(sorted(shape.selector.values())) for pool in pools for shape in pool.shapes]
    assert found_by == [
        ("serve", "spot"),
        ("c7i.2xlarge", "on-demand", "serve"),
        ("c7i.4xlarge", "on-demand", "serve"),
    ]
    assert [shape.allocatable["cpu"] for shape in pools[1].shapes] == [8000, 16000]
    assert not [shape for pool in pools for shape in pool.shapes if shape.node_names]
    live = cluster_of_text(as_file([*made, started("ip-9", "on-demand", "c7i.4xlarge", "16")]), "nodes.json")
    assert differences(imported(made).cluster, membership(imported(made).cluster, live.pools)) == ()


def test_places_of_one_size_share_their_allocatable() -> None:
    racks = [node(f"n-{rack}", {"example.com/rack": rack}) for rack in ("r1", "r2")]
    text = imported(racks).text
    assert text.count("allocatable: {cpu: 30, memory: 120Gi}") == 1
    assert [shape.allocatable["cpu"] for shape in imported(racks).cluster.pools[0].shapes] == [30000, 30000]


def test_what_minikube_notes_tells_no_nodes_apart() -> None:
    two = [
        node(f"minikube-m0{n}", {"minikube.k8s.io/updated_at": f"2025_12_06T10_00_3{n}_0700"}) for n in (2, 3)
    ]
    (pool,) = imported(two).cluster.pools
    assert (pool.name, pool.labels) == ("cpu", {})


def test_a_usage_key_that_only_its_values_give_away_is_a_guess() -> None:
    made = imported([node("n-1", {"workload": "train"}), node("n-2", {"workload": "online"})])
    assert "usage: {key: workload}  # guessed from its values: online, train\n" in made.text
    assert "guessed from its values" not in imported([ODD["training"]]).text


def test_a_mixed_strategy_is_no_hybrid_usage() -> None:
    (pool,) = imported([node("mig-mixed-1", gpu("NVIDIA-H20"), [], with_cards(8))]).cluster.pools
    assert pool.usage == ""


def test_a_pool_is_not_named_by_an_id() -> None:
    (pool,) = imported([node("cn-1", {"alibabacloud.com/nodepool-id": "np0123"})]).cluster.pools
    assert (pool.name, pool.shapes[0].selector) == ("cpu", {"alibabacloud.com/nodepool-id": "np0123"})


def test_a_control_plane_alone_gives_no_pool() -> None:
    made = imported([ODD["control plane"]])
    assert made.cluster.pools == ()
    assert str(made.cluster.control_plane_taint) == "node-role.kubernetes.io/control-plane:NoSchedule"
    assert made.remarks == ("node cp-1: control plane, reserved by a taint; not in any pool",)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(made=nodes())
def test_any_nodes_give_a_policy_that_loads_and_agrees(made: list[dict[str, Any]]) -> None:
    unique = list({node["metadata"]["name"]: node for node in made}.values())
    found = imported(unique)
    assert load_text(found.text.encode(), "policykit.yaml", read).cluster == found.cluster
    live = cluster_of_text(as_file(unique), "nodes.json")
    where = membership(found.cluster, live.pools)
    assert disagreements(found.cluster, live, where) == []


BROKEN = (
    *("not ready", "plugin down", "no allocatable", "no labels", "wrong shapes"),
    *("MIG, invalid", "time-sliced, nothing said", "label and taint disagree"),
)
CLOUDS = ("GKE, spot", "GKE, shared", "GKE, sliced", "GKE, unknown card", "GKE, TPU", "EKS", "AKS", "ACK")


@pytest.mark.parametrize("clouds", [(), *((cloud,) for cloud in CLOUDS)], ids=str)
def test_what_was_imported_checks_clean_where_nothing_is_broken(clouds: tuple[str, ...]) -> None:
    well = [ODD[case] for case in clouds or ODD if case not in BROKEN and (clouds or case not in CLOUDS)]
    made = imported(well)
    live = cluster_of_text(as_file(well), "nodes.json")
    found = differences(made.cluster, membership(made.cluster, live.pools))
    assert [each for each in found if each.kind not in ("unusable-node", "no-usable-node")] == []


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{}",
        b'{"kind": "List", "items": []}',
        b"kind: Service\n",
        b"[]",
        b'{"kind": "Node", "metadata": {}}',
    ],
    ids=["empty", "no kind", "empty list", "another kind", "a list", "no name"],
)
def test_no_node_is_an_error_that_names_the_way_out(content: bytes) -> None:
    with pytest.raises(SourceError) as caught:
        policy_of({"nodes.json": content})
    assert caught.value.place == "nodes.json"
    assert caught.value.hint.startswith("pass the output of `kubectl get nodes -o json`")
