"""Node objects as one-node pools."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policykit.kube import nodes
from policykit.kube.affinity import NodeAffinity
from policykit.kube.nodes import read, registered
from policykit.model.pool import Pool, Shape, Taint
from policykit.model.shared_cards import VirtualCards
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


HAMI = "hami.io/node-nvidia-register"
VOLCANO = "volcano.sh/node-vgpu-register"
CARD = {"id": "GPU-0", "count": 10, "devmem": 32768, "devcore": 100, "type": "NVIDIA-Tesla V100-PCIE-32GB"}


@pytest.mark.parametrize(
    ("key", "text", "found"),
    [
        pytest.param(HAMI, json.dumps([CARD, CARD]), VirtualCards("hami", 2, 10, 65536), id="a JSON list"),
        pytest.param(
            HAMI,
            "GPU-0,5,32768,100,NVIDIA-Tesla V100-PCIE-32GB,0,true:GPU-1,5,32768,100,NVIDIA,0,false:",
            VirtualCards("hami", 2, 5, 65536),
            id="before 2.6",
        ),
        pytest.param(
            VOLCANO,
            "GPU-0,10,32768,NVIDIA-Tesla V100-PCIE-32GB,true,hami-core:",
            VirtualCards("volcano-vgpu", 1, 10, 32768),
            id="Volcano",
        ),
        pytest.param(
            HAMI, json.dumps([{**CARD, "devmem": 0}]), VirtualCards("hami", 1, 10, 0), id="unknown memory"
        ),
        pytest.param(HAMI, "[]", None, id="no card"),
        pytest.param(HAMI, "[{", None, id="broken"),
        pytest.param(HAMI, "GPU-0", None, id="another form"),
        pytest.param(
            HAMI, json.dumps([{**CARD, "count": -1}, {**CARD, "count": 10**30}]), None, id="numbers"
        ),
        pytest.param(HAMI, "[" * 60_000, None, id="deep"),
        pytest.param(HAMI, "GPU-0,10,1,a:" * 10_000, None, id="long"),
        pytest.param("other", "GPU-0,10,32768,100,a:", None, id="another annotation"),
    ],
)
def test_what_is_registered(key: str, text: str, found: VirtualCards | None) -> None:
    assert registered({key: text}) == found


@given(st.text() | st.recursive(st.none() | st.integers() | st.text(), st.lists).map(json.dumps))
def test_any_text(text: str) -> None:
    for key in (HAMI, VOLCANO):
        found = registered({key: text})
        assert found is None or (found.cards > 0 and found.slots > 0 and found.memory >= 0)


def node(annotations: dict[str, Any], **allocatable: str) -> dict[str, Any]:
    return {
        "metadata": {"name": "a", "annotations": annotations},
        "status": {"allocatable": {key.replace("_", "/"): value for key, value in allocatable.items()}},
    }


def test_a_node_offers_what_the_kubelet_does_not_report() -> None:
    pool = read(node({HAMI: json.dumps([CARD, CARD])}, **{"nvidia.com_gpu": "20"}))
    assert pool.shapes[0].allocatable == {
        "nvidia.com/gpu": 20,
        "nvidia.com/gpumem": 65536,
        "nvidia.com/gpumem-percentage": 200,
        "nvidia.com/gpucores": 200,
    }
    assert pool.resources == tuple(sorted(pool.shapes[0].allocatable))


def test_what_the_kubelet_reports_counts() -> None:
    text = "GPU-0,10,32768,NVIDIA,true,hami-core:"
    offers = {"volcano.sh_vgpu-number": "10", "volcano.sh_vgpu-memory": "32000"}
    assert read(node({VOLCANO: text}, **offers)).shapes[0].allocatable["volcano.sh/vgpu-memory"] == 32000
    assert read(node({VOLCANO: text})).shapes[0].allocatable == {}
