"""Odd nodes: what clouds, provisioners, device plugins and accidents make of them."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

CARDS = {"cpu": "180", "memory": "1900Gi", "pods": "110", "ephemeral-storage": "100Gi"}
PLAIN = {"cpu": "30", "memory": "120Gi", "pods": "110"}
USAGE = "ai.example.com/node.usage"
Taints = list[tuple[str, str, str]]


def node(
    name: str,
    labels: dict[str, str] | None = None,
    taints: Taints | None = None,
    allocatable: dict[str, Any] | None = PLAIN,
    *,
    cordoned: bool = False,
) -> dict[str, Any]:
    """A Node object with the labels a kubelet sets."""
    spec: dict[str, Any] = {
        "taints": [{"key": key, "value": value, "effect": effect} for key, value, effect in taints or []]
    }
    if cordoned:
        spec["unschedulable"] = True
        spec["taints"].append({"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"})
    own = {"kubernetes.io/hostname": name, "kubernetes.io/arch": "amd64", "kubernetes.io/os": "linux"}
    status = {"nodeInfo": {"kubeletVersion": "v1.33.4"}}
    sizes = {"allocatable": allocatable, "capacity": allocatable} if allocatable is not None else {}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {**own, **(labels or {})}},
        "spec": spec,
        "status": {**status, **sizes},
    }


def gpu(product: str, count: int = 8, **more: str) -> dict[str, str]:
    """What GPU Feature Discovery writes."""
    return {
        "nvidia.com/gpu.product": product,
        "nvidia.com/gpu.count": str(count),
        "nvidia.com/gpu.memory": "97871",
        "nvidia.com/gpu.present": "true",
        "nvidia.com/gfd.timestamp": "1760000000",
        "feature.node.kubernetes.io/cpu-cpuid.AVX512F": "true",
        **{f"nvidia.com/gpu.{key.replace('_', '-')}": value for key, value in more.items()},
    }


def with_cards(number: int, resource: str = "nvidia.com/gpu", **more: str) -> dict[str, Any]:
    return {
        **CARDS,
        resource: str(number),
        **{name.replace("__", "/"): value for name, value in more.items()},
    }


def product_taint(product: str, key: str = "nvidia.com/gpu.product") -> tuple[str, str, str]:
    return (key, product, "NoSchedule")


MIG = "NVIDIA-A100-SXM4-80GB-MIG-1g.10gb"
SHARED = "NVIDIA-L20-SHARED"
ODD: dict[str, dict[str, Any]] = {
    "training": node(
        "train-1",
        {USAGE: "training", **gpu("NVIDIA-H20")},
        [(USAGE, "training", "NoSchedule"), product_taint("NVIDIA-H20")],
        with_cards(8, rdma__hca="8"),
    ),
    "training, other effect": node(
        "train-2", {USAGE: "training", **gpu("NVIDIA-H20")}, [(USAGE, "training", "NoExecute")], with_cards(8)
    ),
    "usage by taint alone": node(
        "taint-1", gpu("NVIDIA-H800"), [(USAGE, "inference", "NoSchedule")], with_cards(8)
    ),
    "label and taint disagree": node(
        "both-1", {USAGE: "hybrid", **gpu("NVIDIA-H20")}, [(USAGE, "training", "NoSchedule")], with_cards(8)
    ),
    "cordoned": node(
        "cordoned-1", {USAGE: "inference", **gpu("NVIDIA-L4", 1)}, [], with_cards(1), cordoned=True
    ),
    "not ready": node(
        "gone-1",
        {"team": "web"},
        [
            ("node.kubernetes.io/not-ready", "", "NoExecute"),
            ("node.kubernetes.io/unreachable", "", "NoSchedule"),
        ],
    ),
    "MIG, one profile": node(
        "mig-1", {USAGE: "hybrid", **gpu(MIG, 56)}, [product_taint(MIG)], with_cards(56)
    ),
    "MIG, mixed": node(
        "mig-2",
        gpu("NVIDIA-A100-SXM4-80GB"),
        [],
        {**with_cards(4), "nvidia.com/mig-1g.10gb": "12", "nvidia.com/mig-2g.20gb": "8"},
    ),
    "MIG, cut unevenly": node(
        "mig-3", gpu("NVIDIA-A100-SXM4-80GB"), [], {**with_cards(5), "nvidia.com/mig-1g.10gb": "7"}
    ),
    "MIG, invalid": node("mig-4", gpu("NVIDIA-A100-SXM4-80GB-MIG-INVALID", 0), [], with_cards(0)),
    "MIG, no product": node("mig-5", {}, [], {**CARDS, "nvidia.com/mig-1g.5gb": "7"}),
    "time-sliced": node(
        "shared-1",
        {USAGE: "inference", **gpu(SHARED, 4, replicas="4", sharing_strategy="time-slicing")},
        [product_taint(SHARED)],
        with_cards(16),
    ),
    "time-sliced, nothing said": node("shared-2", {"nvidia.com/gpu.product": SHARED}, [], with_cards(7)),
    "MPS, renamed": node(
        "shared-3",
        gpu("NVIDIA-L20", 4, replicas="2", sharing_strategy="mps"),
        [],
        {**CARDS, "nvidia.com/gpu": "0", "nvidia.com/gpu.shared": "8"},
    ),
    "HAMi": node("hami-1", gpu("NVIDIA-A10"), [], {**with_cards(80), "nvidia.com/gpumem": "190000"}),
    "plugin down": node("down-1", gpu("NVIDIA-H20"), [], PLAIN),
    "unknown product": node("new-1", gpu("NVIDIA-X9000"), [product_taint("NVIDIA-X9000")], with_cards(8)),
    "unknown product, shared": node("new-2", gpu("NVIDIA-X9000-SHARED", replicas="2"), [], with_cards(16)),
    "resource alone": node("gpu-1", {}, [("nvidia.com/gpu", "", "NoSchedule")], with_cards(8)),
    "Ascend": node(
        "npu-1",
        {"node.kubernetes.io/npu.chip.name": "910B3", "accelerator": "huawei-Ascend910", "servertype": "x"},
        [("dedicated", "npu", "NoExecute")],
        with_cards(8, "huawei.com/Ascend910"),
    ),
    "Ascend, by hand": node(
        "npu-2",
        {
            "huawei.com/Ascend910.product": "910B1",
            "huawei.com/Ascend910.count": "8",
            "huawei.com/Ascend910.memory": "65536",
        },
        [product_taint("910B1", "huawei.com/Ascend910.product")],
        with_cards(8, "huawei.com/Ascend910"),
    ),
    "Cambricon": node("mlu-1", {"Model": "MLU370-X8"}, [], with_cards(8, "cambricon.com/mlu")),
    "a bare Model": node("model-1", {"Model": "PowerEdge"}),
    "Hygon": node(
        "dcu-1", {"hygon.com/dcu.name": "K100_AI", "dcu": "on"}, [], with_cards(8, "hygon.com/dcu")
    ),
    "AMD": node(
        "amd-1",
        {"amd.com/gpu.product-name": "AMD_Instinct_MI325_OAM"},
        [("amd-gpu-unhealthy", "", "NoSchedule")],
        with_cards(8, "amd.com/gpu"),
    ),
    "GKE, spot": node(
        "gke-train-1",
        {
            "cloud.google.com/gke-nodepool": "train-pool",
            "cloud.google.com/gke-accelerator": "nvidia-h100-80gb",
            "cloud.google.com/gke-spot": "true",
        },
        [("nvidia.com/gpu", "present", "NoSchedule"), ("cloud.google.com/gke-spot", "true", "NoSchedule")],
        with_cards(8),
    ),
    "GKE, shared": node(
        "gke-shared-1",
        {
            "cloud.google.com/gke-nodepool": "shared",
            "cloud.google.com/gke-accelerator": "nvidia-l4",
            "cloud.google.com/gke-gpu-sharing-strategy": "time-sharing",
            "cloud.google.com/gke-max-shared-clients-per-gpu": "4",
        },
        [("nvidia.com/gpu", "present", "NoSchedule")],
        with_cards(4),
    ),
    "GKE, sliced": node(
        "gke-sliced-1",
        {
            "cloud.google.com/gke-nodepool": "sliced",
            "cloud.google.com/gke-accelerator": "nvidia-tesla-a100",
            "cloud.google.com/gke-gpu-partition-size": "1g.5gb",
        },
        [("nvidia.com/gpu", "present", "NoSchedule")],
        with_cards(7),
    ),
    "GKE, unknown card": node(
        "gke-old-1",
        {"cloud.google.com/gke-nodepool": "old", "cloud.google.com/gke-accelerator": "nvidia-tesla-p100"},
        [("nvidia.com/gpu", "present", "NoSchedule")],
        with_cards(1),
    ),
    "GKE, TPU": node(
        "gke-tpu-1",
        {
            "cloud.google.com/gke-tpu-accelerator": "tpu-v6e-slice",
            "cloud.google.com/gke-accelerator-count": "4",
        },
        [("google.com/tpu", "present", "NoSchedule")],
        with_cards(4, "google.com/tpu"),
    ),
    "EKS": node(
        "ip-10-0-0-1.ec2.internal",
        {"eks.amazonaws.com/nodegroup": "gpu-infer", **gpu("NVIDIA-H100-80GB-HBM3")},
        [("nvidia.com/gpu", "true", "NoSchedule")],
        with_cards(8),
    ),
    "AKS": node(
        "aks-gpu-1",
        {"kubernetes.azure.com/agentpool": "gpu", "agentpool": "gpu"},
        [("sku", "gpu", "NoSchedule")],
    ),
    "ACK": node(
        "cn-beijing.10.0.0.1",
        {
            "alibabacloud.com/nodepool-id": "np0123",
            "aliyun.accelerator/nvidia_name": "NVIDIA-H20",
            "workload": "train",
        },
        [("workload", "train", "NoSchedule")],
        with_cards(8),
    ),
    "virtual kubelet": node(
        "vk-1",
        {"type": "virtual-kubelet"},
        [("virtual-kubelet.io/provider", "alibabacloud", "NoSchedule")],
        {"cpu": "10k", "memory": "10Ti", "pods": "5000"},
    ),
    "no allocatable": node("silent-1", {"team": "web"}, [], None),
    "zone and rack": node("rack-1", {"topology.kubernetes.io/zone": "z1", "example.com/rack": "r1"}),
    "another rack": node("rack-2", {"topology.kubernetes.io/zone": "z1", "example.com/rack": "r2"}),
    "odd amounts": node("size-1", {}, [], {"cpu": "7910m", "memory": "128123456Ki", "pods": "64"}),
    "unknown device": node("fuse-1", {}, [], {**PLAIN, "smarter-devices/fuse": "20", "hugepages-2Mi": "1Gi"}),
    "no labels": {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "bare-1"}},
    "wrong shapes": {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": "wrong-1", "labels": {"a": 1, "b": None, "bad key!": "x", "c": "not a value!"}},
        "spec": {"taints": [{"key": "x"}, 3, {"key": "bad key!", "effect": "NoSchedule"}]},
        "status": {"allocatable": {"cpu": "many", "memory": -1, "nvidia.com/gpu": "1.5", "a b/c": 1}},
    },
    "odd name": node("Node_1", {USAGE: "training"}),
    "control plane": node(
        "cp-1",
        {"node-role.kubernetes.io/control-plane": ""},
        [("node-role.kubernetes.io/control-plane", "", "NoSchedule")],
    ),
    "control plane that takes pods": node("cp-2", {"node-role.kubernetes.io/control-plane": ""}),
}
"""Case to Node."""

KEYS = (
    USAGE,
    "team",
    "pool-type",
    "dedicated",
    "nvidia.com/gpu",
    "nvidia.com/gpu.product",
    "example.com/rack",
)
VALUES = ("training", "inference", "hybrid", "train", "web", "NVIDIA-H20", "true", "")


@st.composite
def nodes(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Some of the odd nodes, some of them again with other labels and taints."""
    found = []
    for number, case in enumerate(draw(st.lists(st.sampled_from(sorted(ODD)), min_size=1, max_size=8))):
        base = ODD[case]
        labels = base["metadata"].get("labels", {})
        more = draw(st.dictionaries(st.sampled_from(KEYS), st.sampled_from(VALUES), max_size=2))
        taints = draw(
            st.lists(
                st.fixed_dictionaries(
                    {
                        "key": st.sampled_from(KEYS),
                        "value": st.sampled_from(VALUES),
                        "effect": st.sampled_from(("NoSchedule", "NoExecute", "PreferNoSchedule")),
                    }
                ),
                max_size=2,
                unique_by=lambda taint: (taint["key"], taint["effect"]),
            )
        )
        name = base["metadata"]["name"] if draw(st.booleans()) else f"n-{number}"
        spec = {**base.get("spec", {}), **({"taints": taints} if taints else {})}
        found.append({**base, "metadata": {"name": name, "labels": {**labels, **more}}, "spec": spec})
    return found
