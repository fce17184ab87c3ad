"""Node objects as one-node pools."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from policykit.kube import nodes
from policykit.kube.affinity import NodeAffinity
from policykit.model.pool import Pool, Shape
from policykit.model.taint import Taint
from tests.kube import oracle
from tests.kube.oracle import name_of
from tests.kube.test_selectors import ANYTHING

NODE = {
    "metadata": {"name": "gpu-a1", "labels": {"pool": "train", "count": 8}},
    "spec": {"taints": [{"key": "nvidia.com/gpu", "effect": "NoSchedule"}], "unschedulable": True},
    "status": {
        "allocatable": {
            "cpu": "63500m",
            "memory": "1Gi",
            "pods": "110",
            "nvidia.com/gpu": "8",
            "amd.com/gpu": "0",
        },
        "capacity": {"cpu": "64"},
    },
}


def test_read() -> None:
    amounts = {"cpu": 63500, "memory": 1024**3, "pods": 110, "nvidia.com/gpu": 8, "amd.com/gpu": 0}
    assert nodes.read(NODE) == Pool(
        "gpu-a1",
        (Shape(amounts, 1, 1, ("gpu-a1",)),),
        {"pool": "train"},
        (Taint("nvidia.com/gpu"),),
        resources=("nvidia.com/gpu",),
        unschedulable=True,
    )


@pytest.mark.parametrize(
    ("status", "amounts"),
    [
        ({"capacity": {"cpu": "64"}}, {"cpu": 64000}),
        ({"allocatable": {}, "capacity": {"cpu": "64"}}, {"cpu": 64000}),
        ({}, {}),
        (None, {}),
    ],
)
def test_capacity_stands_in_for_allocatable(status: object, amounts: dict[str, int]) -> None:
    assert nodes.read({"status": status}).shapes[0].allocatable == amounts


def test_name_and_labels_of_a_one_node_pool() -> None:
    node = Pool("pool", (Shape({}, node_names=("n1",), labels={"zone": "z1"}),), {"pool": "train"})
    assert name_of(node) == "n1"
    assert nodes.labels_of(node) == {"pool": "train", "zone": "z1"}
    assert name_of(Pool("alone", (Shape({}),))) == "alone"


def test_filters_in_the_order_of_the_plugins() -> None:
    refused = oracle.filters(nodes.read(NODE), (), NodeAffinity({"pool": "infer"}))
    assert refused == ("NodeUnschedulable", "TaintToleration", "NodeAffinity")


@given(ANYTHING, ANYTHING, ANYTHING)
def test_any_data_is_read(metadata: Any, spec: Any, status: Any) -> None:
    node = nodes.read({"metadata": metadata, "spec": spec, "status": status})
    assert oracle.filters(node, (), NodeAffinity()) == ()
