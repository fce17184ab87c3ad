"""Cards cut or shared: what a node offers, and what its product label says."""

from __future__ import annotations

import pytest

from policykit.errors import PolicyError
from tests.policy.memory import load_body

BODY = """\
cards:
  h200: {product: NVIDIA-H200}
  dongle: {resource: example.com/dongle, perNode: 8}
pools:
  p: {card: CARD, sharing: SHARING}
"""


@pytest.mark.parametrize(
    ("card", "sharing", "offered", "product", "counted"),
    [
        pytest.param("h200", "{}", {"nvidia.com/gpu": 8}, "NVIDIA-H200", "8", id="whole"),
        pytest.param(
            "h200",
            "{mode: time-slicing, replicas: 4}",
            {"nvidia.com/gpu": 32},
            "NVIDIA-H200-SHARED",
            "8",
            id="time-slicing",
        ),
        pytest.param(
            "h200",
            "{mode: mps, replicas: 2, rename: true}",
            {"nvidia.com/gpu.shared": 16},
            "NVIDIA-H200",
            "8",
            id="mps, renamed",
        ),
        pytest.param(
            "h200",
            "{mode: mig-single, profiles: {1g.18gb+me: 1}}",
            {"nvidia.com/gpu": 8},
            "NVIDIA-H200-MIG-1g.18gb.me",
            "8",
            id="mig-single with a plus",
        ),
        pytest.param(
            "h200",
            "{mode: mig-single, profiles: {1g.18gb: 7}, replicas: 2}",
            {"nvidia.com/gpu": 112},
            "NVIDIA-H200-MIG-1g.18gb-SHARED",
            "56",
            id="mig-single, shared on top",
        ),
        pytest.param(
            "h200",
            "{mode: mig-mixed, profiles: {1g.18gb: 3, 3g.71gb: 1}}",
            {"nvidia.com/mig-1g.18gb": 24, "nvidia.com/mig-3g.71gb": 8},
            "NVIDIA-H200",
            "8",
            id="mig-mixed",
        ),
        pytest.param(
            "h200",
            "{mode: mig-mixed, profiles: {7g.141gb: 1}, wholeCards: 6}",
            {"nvidia.com/gpu": 6, "nvidia.com/mig-7g.141gb": 2},
            "NVIDIA-H200",
            "8",
            id="mig-mixed with whole cards",
        ),
        pytest.param("dongle", "{}", {"example.com/dongle": 8}, None, None, id="no catalogue, no product"),
    ],
)
def test_what_a_node_offers(
    card: str, sharing: str, offered: dict[str, int], product: str | None, counted: str | None
) -> None:
    pool = load_body(BODY.replace("CARD", card).replace("SHARING", sharing)).cluster.pools[0]
    assert dict(pool.shapes[0].allocatable) == offered
    assert pool.resources == tuple(sorted(offered))
    assert pool.labels.get("nvidia.com/gpu.product") == product
    assert pool.labels.get("nvidia.com/gpu.count") == counted
    assert [taint.value for taint in pool.taints] == ([product] if product else [])


def test_what_is_stated_of_a_card_wins() -> None:
    pool = load_body(BODY.replace("CARD", "h200, cardsPerNode: 4").replace("SHARING", "{}")).cluster.pools[0]
    assert pool.shapes[0].allocatable == {"nvidia.com/gpu": 4}
    assert pool.labels["nvidia.com/gpu.count"] == "4"


def test_nothing_stated_says_nothing_of_sizes() -> None:
    pool = load_body("pools:\n  p: {}\n").cluster.pools[0]
    assert pool.shapes[0] == (({}), 0, None, (), {}, {})
    assert not pool.autoscaled


@pytest.mark.parametrize(
    ("nodes", "minimum", "maximum", "autoscaled"),
    [
        ("0", 0, 0, False),
        ("16", 16, 16, False),
        ("{min: 0, max: 8}", 0, 8, True),
        ("{max: 8}", 0, 8, True),
        ("{min: 2}", 2, None, True),
        ("{min: 4, max: 4}", 4, 4, False),
        ("{names: [a, b-1]}", 2, 2, False),
        ('{names: ["gpu-[08-11]"]}', 4, 4, False),
        ("{selector: {size: big}}", 0, None, False),
    ],
)
def test_nodes(nodes: str, minimum: int, maximum: int | None, autoscaled: bool) -> None:
    pool = load_body(f"pools:\n  p: {{nodes: {nodes}}}\n").cluster.pools[0]
    shape = pool.shapes[0]
    assert (shape.minimum, shape.maximum, pool.autoscaled) == (minimum, maximum, autoscaled)


def test_virtual_cards_of_volcano_need_a_release_with_deviceshare() -> None:
    body = BODY.replace("CARD", "h200").replace("SHARING", "{mode: volcano-vgpu}")
    with pytest.raises(PolicyError) as caught:
        load_body(body + 'targets: {volcano: {version: "1.8"}}\n')
    assert str(caught.value) == (
        "policykit.yaml:9:35: Volcano 1.8.0 has no plugin deviceshare (added in 1.9)\n"
        "  help: upgrade Volcano, or share the cards in another way"
    )
