"""The bundled profiles compile without a word, to the clusters they are said to be."""

from __future__ import annotations

import pytest

from policykit import bundled
from policykit.model.pool import Shape
from policykit.policy.load import load_profile
from policykit.targets.koordinator.options import Fit, koordinator_options

GIB = 1024**3


@pytest.mark.parametrize("name", bundled.names("profiles", suffix=".yaml"))
def test_profiles_have_nothing_to_tell(name: str) -> None:
    loaded = load_profile(name)
    assert loaded.notices == ()
    assert loaded.files == (f"profile:{name}",)
    assert loaded.cluster.source == f"profile:{name}"


def test_hybrid_volcano() -> None:
    cluster = load_profile("hybrid-volcano").cluster
    assert [(p.name, p.usage, p.card, p.shapes[0].minimum) for p in cluster.pools] == [
        ("train-h20", "training", "h20", 16),
        ("infer-h20", "inference", "h20", 8),
        ("hybrid-h20", "hybrid", "h20", 4),
    ]
    assert [str(taint) for taint in cluster.pool("hybrid-h20").taints] == [
        "maip.mxsf.io/node.usage=hybrid:NoSchedule",
        "nvidia.com/gpu.product=NVIDIA-H20:NoSchedule",
    ]
    assert cluster.pool("hybrid-h20").labels == {
        "maip.mxsf.io/node.usage": "hybrid",
        "nvidia.com/gpu.product": "NVIDIA-H20",
        "nvidia.com/gpu.count": "8",
    }
    assert cluster.pools[0].shapes[0].allocatable == {
        "nvidia.com/gpu": 8,
        "pods": 110,
        "cpu": 180_000,
        "memory": 1900 * GIB,
    }
    training = cluster.workloads["training"]
    assert (training.usages, training.prefer) == (("training", "hybrid"), {"training": 100})
    assert (training.scheduler, training.gang, training.placement) == ("volcano", "all", "binpack")
    assert cluster.workloads["inference"].scheduler == ""
    assert str(cluster.control_plane_taint) == "maip.mxsf.io/control-plane:NoSchedule"
    assert cluster.schedulers == {"default-scheduler", "volcano"}
    assert not cluster.complete
    assert cluster.cards["h20"].mistaken[0] == "H20"


def test_koordinator_binpack() -> None:
    cluster = load_profile("koordinator-binpack").cluster
    (workers,) = cluster.pools
    assert workers.shapes == (
        Shape(
            {"example.com/dongle": 8, "pods": 110, "cpu": 2000, "memory": 2_200_000_000},
            2,
            2,
            ("minikube-m02", "minikube-m03"),
        ),
    )
    assert (workers.taints, workers.labels, workers.usage) == ((), {}, "")
    assert (cluster.usage_key, cluster.cards["dongle"].product_key, cluster.declared_keys) == (
        "",
        "",
        frozenset(),
    )
    assert str(cluster.control_plane_taint) == "node-role.kubernetes.io/control-plane=true:NoSchedule"
    assert cluster.schedulers == {"default-scheduler", "koord-scheduler"}
    assert cluster.targets["koordinator"].version == "1.8.0"
    assert koordinator_options(cluster.targets["koordinator"]).fit == {
        "example.com/dongle": Fit("MostAllocated", 20),
        "cpu": Fit("LeastAllocated", 2),
        "memory": Fit("LeastAllocated", 1),
    }
    # Recognised by label alone: nothing else may bind a workload to the second scheduler.
    assert [kind.match for kind in cluster.workloads.values()] == [()]
    assert not {"training", "inference", "serving"} & set(cluster.workloads)
