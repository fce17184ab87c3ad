"""Virtual cards as the device plugins of HAMi and Volcano register them on nodes."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policykit.kube.nodes import read
from policykit.kube.virtual_cards import registered
from policykit.model.virtual_cards import VirtualCards

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
