"""Which pools the policy allows for a pod set, and which products and card resources it names."""

from __future__ import annotations

from typing import Any

import pytest

from policykit.model.cluster import Cluster, TargetSettings
from policykit.model.pool import Pool, Shape
from policykit.placement.eligible_pools import offers
from tests.clusters import policy
from tests.placement.pods import H20, L20, PRODUCT, USAGE, look, pod, required, tolerate

NVIDIA = Pool("nvidia", (Shape({}),), card="h20", resources=("nvidia.com/gpu",))
HUAWEI = Pool("huawei", (Shape({}),), card="910b", resources=("huawei.com/Ascend910",))
PARTS = Pool("parts", (Shape({}),), card="part", resources=("huawei.com/Ascend910B3",))
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
        pytest.param({}, PARTS, "huawei.com/Ascend910B3-memory", True, id="memory of HAMi's parts of NPUs"),
        pytest.param({}, PARTS, "huawei.com/Ascend910B4-memory", False, id="of another model"),
        pytest.param({}, HUAWEI, "huawei.com/Ascend910B3-memory", False, id="whole NPUs"),
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


CLUSTER = policy(
    {
        "domain": "maip.mxsf.io",
        "cards": {"h20": H20, "l20": L20},
        "pools": {
            "train-h20": {"usage": "training", "card": "h20", "nodes": 1},
            "train-l20": {"usage": "training", "card": "l20", "nodes": 1},
            "infer-h20": {"usage": "inference", "card": "h20", "nodes": 1},
            "plain-h20": {"card": "h20", "nodes": 1},
            "cpu": {"nodes": 1},
            "gate": {"nodes": 1},
        },
        "workloads": {
            "training": {"usages": ["training"], "prefer": {"training": 100}},
            "small": {"usages": ["training"], "cards": ["l20"]},
            "driven": {"usages": ["training"], "helpers": ["gate"]},
            "anything": {},
            "web": {"cards": "none"},
        },
    }
)
H20_POOLS = ["train-h20", "infer-h20", "plain-h20"]
CARD_POOLS = ["train-h20", "train-l20", "infer-h20", "plain-h20"]


def meant(kind: str = "", cards: int = 1, resource: str = "nvidia.com/gpu", **spec: Any) -> list[str] | None:
    labels = {"policykit.io/workload": kind} if kind else {}
    found = look(pod(cards, labels, resource, **spec), CLUSTER).eligible_pools
    return None if found is None else [pool.name for pool in found]


@pytest.mark.parametrize(
    ("kind", "cards", "expected"),
    [
        pytest.param("training", 1, ["train-h20", "train-l20"], id="usage and card"),
        pytest.param("small", 1, ["train-l20"], id="only the kind's cards"),
        pytest.param("anything", 1, CARD_POOLS, id="a kind for any pool"),
        pytest.param("web", 1, [], id="a kind without cards that asks for one"),
        pytest.param("", 1, CARD_POOLS, id="no kind"),
        pytest.param("training", 0, ["cpu", "gate"], id="helpers by default"),
        pytest.param("driven", 0, ["gate"], id="helpers as stated"),
        pytest.param("", 0, None, id="neither card nor kind"),
    ],
)
def test_by_kind_and_card(kind: str, cards: int, expected: list[str] | None) -> None:
    assert meant(kind, cards) == expected


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        pytest.param({"nodeSelector": {PRODUCT: "NVIDIA-H20"}}, H20_POOLS, id="selector"),
        pytest.param({"affinity": required([(PRODUCT, "In", ["NVIDIA-H20"])])}, H20_POOLS, id="affinity"),
        pytest.param({"tolerations": tolerate(PRODUCT, "NVIDIA-L20")}, ["train-l20"], id="toleration"),
        pytest.param({"tolerations": tolerate(PRODUCT)}, CARD_POOLS, id="Exists states none"),
        pytest.param(
            {"nodeSelector": {PRODUCT: "NVIDIA-H20"}, "tolerations": tolerate(PRODUCT, "NVIDIA-L20")},
            H20_POOLS,
            id="the selection comes first",
        ),
        pytest.param(
            {"tolerations": tolerate(PRODUCT, "NVIDIA-H20", "NVIDIA-L20")}, CARD_POOLS, id="several values"
        ),
        pytest.param({"nodeSelector": {PRODUCT: "NVIDIA-A10"}}, [], id="a product no pool has"),
        pytest.param({"tolerations": tolerate(USAGE, "inference")}, CARD_POOLS, id="a usage is no product"),
    ],
)
def test_by_product(spec: dict[str, Any], expected: list[str]) -> None:
    assert meant(**spec) == expected


def test_a_resource_that_no_pool_offers() -> None:
    assert meant(resource="amd.com/gpu") == []


def test_a_claim_may_be_for_any_card() -> None:
    claims = [{"name": "card", "resourceClaimTemplateName": "card"}]
    assert meant("training", 0, resourceClaims=claims) is None
    assert meant("training", 1, resourceClaims=claims) == ["train-h20", "train-l20"]
