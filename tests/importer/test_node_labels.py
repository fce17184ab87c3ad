"""What of a node's labels and taints a policy speaks of."""

from __future__ import annotations

import pytest

from policykit.importer.node_labels import (
    describes_location,
    describes_purpose,
    is_transient,
    policy_taints,
    unique_keys,
)
from policykit.model.inventory import Node
from policykit.model.pool import Taint


@pytest.mark.parametrize(
    ("key", "value", "tells"),
    [
        ("example.com/node.usage", "training", True),
        ("team", "web", True),
        ("node-role.kubernetes.io/gpu", "", True),
        ("node-role.kubernetes.io/control-plane", "", False),
        ("cloud.google.com/gke-spot", "true", True),
        ("cloud.google.com/gke-nodepool", "a", True),
        ("cloud.google.com/compute-class", "l4", True),
        ("cloud.google.com/gke-os-distribution", "cos", False),
        ("kubernetes.io/hostname", "n-1", False),
        ("feature.node.kubernetes.io/pci-10de.present", "true", False),
        ("nvidia.com/gpu.memory", "97871", False),
        ("nvidia.com/mig.config", "all-1g.10gb", True),
        ("nvidia.com/gpu.driver-version", "550.54.15", False),
        ("nvidia.com/cuda.driver.major", "535", False),
        ("nvidia.com/gpu-driver-upgrade-state", "upgrade-done", False),
        ("minikube.k8s.io/updated_at", "2025_12_06T10_00_33_0700", False),
        ("egress.rke2.io/cluster", "true", False),
        ("beta.amd.com/gpu.cu-count.304", "8", False),
        ("kops.k8s.io/instancegroup", "gpu", True),
        ("tke.cloud.tencent.com/nodepool-id", "np-1", True),
        ("example.com/serial", "f81d4fae-7dec-11d0-a765-00a0c91e6bf6", False),
        ("example.com/since", "1760000000", False),
        ("bad key", "a", False),
        ("team", "not a value!", False),
    ],
)
def test_telling_labels(key: str, value: str, tells: bool) -> None:
    assert describes_purpose(key, value) is tells


@pytest.mark.parametrize(
    ("key", "place"),
    [
        ("topology.kubernetes.io/zone", True),
        ("topology.kubernetes.io/region", False),
        ("example.com/rack", True),
        ("example.com/network-domain", True),
        ("timezone", False),
        ("example.com/rack-owner", False),
        ("cloud.google.com/gce-topology-block", False),
    ],
)
def test_labels_of_places(key: str, place: bool) -> None:
    assert describes_location(key) is place


@pytest.mark.parametrize(
    ("taint", "passes"),
    [
        (Taint("node.kubernetes.io/not-ready", "", "NoExecute"), True),
        (Taint("node.kubernetes.io/memory-pressure"), True),
        (Taint("node.kubernetes.io/npu.chip.name", "910B3"), False),
        (Taint("ToBeDeletedByClusterAutoscaler", "1700000000"), True),
        (Taint("karpenter.sh/disrupted"), True),
        (Taint("vendor.example.com/agent-not-ready"), True),
        (Taint("amd-gpu-unhealthy"), True),
        (Taint("cloud.google.com/gke-spot", "true"), False),
        (Taint("dedicated", "gpu"), False),
    ],
    ids=str,
)
def test_passing_taints(taint: Taint, passes: bool) -> None:
    assert is_transient(taint) is passes
    assert policy_taints([taint]) == (() if passes else (taint,))


def test_taints_no_node_may_have_are_left_out() -> None:
    odd = [Taint("a b", "x"), Taint("a", "x!"), Taint("a", "x", "Never"), Taint("a", "1"), Taint("a", "2")]
    assert policy_taints(odd) == (Taint("a", "1"),)


@pytest.mark.parametrize(
    ("number", "own"), [(4, frozenset()), (5, frozenset({"serial"}))], ids=["few nodes", "many nodes"]
)
def test_labels_of_single_nodes(number: int, own: frozenset[str]) -> None:
    nodes = [
        Node(
            f"n-{n}",
            {
                "serial": f"s{n}",
                "team": "web",
                "example.com/rack": f"r{n}",
                "dedicated": f"d{n}",
                "a/node.usage": f"u{n}",
            },
            (Taint("dedicated", f"d{n}"),),
        )
        for n in range(number)
    ]
    assert unique_keys(nodes) == own
