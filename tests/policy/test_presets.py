"""The scheme presets: labels, taints and admission, preset by preset and part by part."""

from __future__ import annotations

import pytest

from policykit import bundled
from policykit.catalogue import labels
from policykit.model.cluster import Cluster
from policykit.policy.presets import PRESETS
from tests.policy.memory import load_body

BODY = """\
cards:
  h20: {product: NVIDIA-H20}
  l4: {product: NVIDIA-L4}
  mi300: {product: AMD-Instinct-MI300X-OAM}
  tpu: {product: tpu-v5p-slice}
  ppu: {product: PPU-ZW810E}
pools:
  a: {usage: training, card: CARD}
"""


def cluster(scheme: str, card: str) -> Cluster:
    return load_body(f"scheme: {scheme}\n" + BODY.replace("CARD", card)).cluster


def shown(scheme: str, card: str) -> tuple[dict[str, str], list[str]]:
    """Labels and taints of the pool."""
    pool = cluster(scheme, card).pools[0]
    return dict(pool.labels), [str(taint) for taint in pool.taints]


USAGE = {"d.example/node.usage": "training"}
USAGE_TAINT = "d.example/node.usage=training:NoSchedule"
H20 = {"nvidia.com/gpu.product": "NVIDIA-H20", "nvidia.com/gpu.count": "8"}
H20_TAINT = "nvidia.com/gpu.product=NVIDIA-H20:NoSchedule"
L4 = {"nvidia.com/gpu.product": "NVIDIA-L4"}
GKE = "cloud.google.com/gke-accelerator"


@pytest.mark.parametrize(
    ("scheme", "card", "node_labels", "taints"),
    [
        pytest.param("seed", "h20", USAGE | H20, [USAGE_TAINT, H20_TAINT], id="seed"),
        pytest.param(
            "seed",
            "mi300",
            USAGE
            | {
                "amd.com/gpu.product": "AMD-Instinct-MI300X-OAM",
                "amd.com/gpu.memory": "196592",
            },
            [USAGE_TAINT, "amd.com/gpu.product=AMD-Instinct-MI300X-OAM:NoSchedule"],
            id="seed, labels by hand where no discovery writes them",
        ),
        pytest.param(
            "{discovery: vendor}",
            "mi300",
            USAGE | {"amd.com/gpu.product-name": "AMD_Instinct_MI300X_OAM"},
            [USAGE_TAINT, "amd.com/gpu.product-name=AMD_Instinct_MI300X_OAM:NoSchedule"],
            id="labels of the vendor's own labeller",
        ),
        pytest.param("plain", "h20", USAGE | H20, [], id="plain"),
        pytest.param(
            "gke",
            "l4",
            USAGE | {GKE: "nvidia-l4"},
            [USAGE_TAINT, "nvidia.com/gpu=present:NoSchedule"],
            id="gke",
        ),
        pytest.param(
            "gke",
            "tpu",
            USAGE | {"cloud.google.com/gke-tpu-accelerator": "tpu-v5p-slice"},
            [USAGE_TAINT, "google.com/tpu=present:NoSchedule"],
            id="gke, TPU",
        ),
        pytest.param(
            "{preset: gke, discovery: gfd}",
            "l4",
            USAGE | L4,
            [USAGE_TAINT, "nvidia.com/gpu=present:NoSchedule"],
            id="gke with GPU Feature Discovery",
        ),
        pytest.param("eks", "l4", USAGE | L4, [USAGE_TAINT], id="eks"),
        pytest.param(
            "{preset: eks, product: {taint: true}}",
            "l4",
            USAGE | L4,
            [USAGE_TAINT, "nvidia.com/gpu:NoSchedule"],
            id="eks with the usual card taint",
        ),
        pytest.param("aks", "l4", USAGE | L4, [USAGE_TAINT], id="aks"),
        pytest.param(
            "ack", "h20", USAGE | {"aliyun.accelerator/nvidia_name": "NVIDIA-H20"}, [USAGE_TAINT], id="ack"
        ),
        pytest.param(
            "ack", "ppu", USAGE | {"aliyun.accelerator/ppu_name": "PPU-ZW810E"}, [USAGE_TAINT], id="ack, PPU"
        ),
        pytest.param("{usage: false}", "h20", H20, [H20_TAINT], id="no usage"),
        pytest.param("{product: false}", "h20", USAGE, [USAGE_TAINT], id="no product"),
        pytest.param(
            "{usage: {key: e.com/pool, taint: {value: '', effect: NoExecute}}}",
            "h20",
            {"e.com/pool": "training"} | H20,
            ["e.com/pool:NoExecute", H20_TAINT],
            id="another usage key and taint",
        ),
        pytest.param(
            "{product: {label: false, taint: {key: gpu, value: 'yes'}}}",
            "h20",
            USAGE,
            [USAGE_TAINT, "gpu=yes:NoSchedule"],
            id="another card taint",
        ),
        pytest.param(
            "{preset: plain, usage: true}", "h20", USAGE | H20, [USAGE_TAINT], id="plain with one taint"
        ),
    ],
)
def test_labels_and_taints(scheme: str, card: str, node_labels: dict[str, str], taints: list[str]) -> None:
    assert shown(scheme, card) == (node_labels, taints)


@pytest.mark.parametrize(
    ("scheme", "wanted"),
    [
        ("seed", "d.example/control-plane:NoSchedule"),
        ("plain", "None"),
        ("gke", "None"),
        ("{controlPlane: false}", "None"),
        ("{preset: plain, controlPlane: true}", "d.example/control-plane:NoSchedule"),
        (
            "{controlPlane: {key: node-role.kubernetes.io/control-plane, value: 'true'}}",
            "node-role.kubernetes.io/control-plane=true:NoSchedule",
        ),
        ("{controlPlane: {effect: NoExecute}}", "d.example/control-plane:NoExecute"),
    ],
)
def test_control_plane_taint(scheme: str, wanted: str) -> None:
    assert str(cluster(scheme, "h20").control_plane_taint) == wanted


@pytest.mark.parametrize("name", sorted(PRESETS))
def test_clouds_do_what_the_catalogue_says(name: str) -> None:
    compiled = cluster(name, "l4")
    cloud = name if PRESETS[name].cloud else ""
    assert compiled.provider == cloud
    tolerated = bundled.table("profiles", "compiled", "labels.json")["extended_resource_toleration"]
    assert compiled.pools[0].injects_resource_tolerations == tolerated.get(cloud, False)
    automatic = {entry.taint for entry in labels.provider_taints(name) if entry.automatic}
    assert set(PRESETS[name].card_taints.values()) == automatic
    for key in (
        *PRESETS[name].product_keys.values(),
        *(k for keys in PRESETS[name].card_keys.values() for k in keys),
    ):
        assert labels.provider(key), key
    for values in PRESETS[name].product_values.values():
        assert set(values) <= set(labels.provider_values(GKE))


def test_a_pool_may_have_another_scheme() -> None:
    pools = load_body(
        "cards:\n  l4: {product: NVIDIA-L4}\npools:\n"
        "  a: {usage: x, card: l4}\n"
        "  b: {usage: x, card: l4, scheme: plain}\n"
        "  c: {usage: x, card: l4, scheme: {product: false, resourceTolerations: true}}\n"
        "  d: {usage: x, card: l4, scheme: {preset: gke, usage: {taint: false}}}\n"
    ).cluster.pools
    assert [[taint.key for taint in pool.taints] for pool in pools] == [
        ["d.example/node.usage", "nvidia.com/gpu.product"],
        [],
        ["d.example/node.usage"],
        ["nvidia.com/gpu"],
    ]
    assert [pool.injects_resource_tolerations for pool in pools] == [False, False, True, True]


def test_what_discovery_writes_is_not_generated() -> None:
    body = "cards:\n  l4: {product: NVIDIA-L4}\npools:\n  a: {usage: x, card: l4}\n"
    discovered = load_body(body).cluster.pools[0].discovered
    assert {"nvidia.com/gpu.product", "nvidia.com/gpu.count", "nvidia.com/gpu.memory"} <= discovered
    by_hand = load_body("scheme: {discovery: manual}\n" + body).cluster.pools[0]
    assert by_hand.discovered == frozenset()
    assert by_hand.labels["nvidia.com/gpu.memory"] == "23034"
    another_key = load_body("scheme: {product: {key: d.example/card}}\n" + body).cluster.pools[0]
    assert another_key.labels["d.example/card"] == "NVIDIA-L4"
    assert "d.example/card" not in another_key.discovered
