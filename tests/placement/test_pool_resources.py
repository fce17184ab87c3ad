"""What a pool offers beside what its device plugin registers."""

from __future__ import annotations

import pytest

from policykit.model.cluster import Cluster, TargetSettings
from policykit.model.pool import Pool, Shape
from policykit.placement.pool_resources import offers

NVIDIA = Pool("nvidia", (Shape({}),), card="h20", resources=("nvidia.com/gpu",))
HUAWEI = Pool("huawei", (Shape({}),), card="910b", resources=("huawei.com/Ascend910",))
PLAIN = Pool("plain", (Shape({}),))
KOORDINATOR = {"koordinator": TargetSettings("koordinator", card_vendors=frozenset({"koordinator"}))}
VGPU = {"volcano": TargetSettings("volcano", card_vendors=frozenset({"nvidia-volcano"}))}
VOLCANO = {"volcano": TargetSettings("volcano")}


@pytest.mark.parametrize(
    ("targets", "pool", "name", "expected"),
    [
        pytest.param({}, NVIDIA, "nvidia.com/gpu", True, id="its own"),
        pytest.param({}, NVIDIA, "koordinator.sh/gpu-core", False, id="no Koordinator"),
        pytest.param(KOORDINATOR, NVIDIA, "koordinator.sh/gpu-core", True, id="Koordinator"),
        pytest.param(KOORDINATOR, NVIDIA, "koordinator.sh/gpu.shared", True, id="cards to share"),
        pytest.param(KOORDINATOR, PLAIN, "koordinator.sh/gpu-core", False, id="a pool without cards"),
        pytest.param(KOORDINATOR, HUAWEI, "huawei.com/npu-core", True, id="the maker's cards"),
        pytest.param(KOORDINATOR, NVIDIA, "huawei.com/npu-core", False, id="another maker's cards"),
        pytest.param(KOORDINATOR, NVIDIA, "amd.com/gpu", False, id="whole cards of another maker"),
        pytest.param(VGPU, NVIDIA, "volcano.sh/vgpu-number", True, id="Volcano's vGPU"),
        pytest.param(VGPU, HUAWEI, "volcano.sh/vgpu-number", False, id="vGPU is of NVIDIA cards"),
        pytest.param(VOLCANO, NVIDIA, "volcano.sh/vgpu-number", False, id="vGPU not said"),
    ],
)
def test_offers(targets: dict[str, TargetSettings], pool: Pool, name: str, expected: bool) -> None:
    assert offers(Cluster("test", (pool,), targets=targets), pool, name) is expected


def test_real_nodes_list_what_they_offer() -> None:
    cluster = Cluster("test", (NVIDIA,), targets=KOORDINATOR, observed=True)
    assert not offers(cluster, NVIDIA, "koordinator.sh/gpu-core")
