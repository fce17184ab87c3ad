"""What people write instead of a card's or a resource's name."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policykit.catalogue import cards, resources, suggestions

A100 = ("NVIDIA-A100-80GB-PCIe", "NVIDIA-A100-PCIE-40GB", "NVIDIA-A100-SXM4-40GB", "NVIDIA-A100-SXM4-80GB")
H100 = ("NVIDIA-H100-80GB-HBM3", "NVIDIA-H100-NVL", "NVIDIA-H100-PCIe")

CANDIDATES = {
    "H20": ("NVIDIA-H20",),
    "h20": ("NVIDIA-H20",),
    "H20-SHARED": ("NVIDIA-H20",),
    "H20-MIG-1g.12gb": ("NVIDIA-H20",),
    "H200": ("NVIDIA-H200",),
    "H200-NVL": ("NVIDIA-H200-NVL",),
    "H100": H100,
    "NVIDIA-H100": H100,
    "NVIDIA-A100": A100,
    "NVIDIA_A100": A100,
    "Tesla-A100": A100,
    "nvidia-tesla-a100": A100,
    "A100-SXM4": ("NVIDIA-A100-SXM4-40GB", "NVIDIA-A100-SXM4-80GB"),
    "NVIDIA-A100-SXM-80GB": ("NVIDIA-A100-SXM4-80GB",),
    "A100-SXM4-80GB": ("NVIDIA-A100-SXM4-80GB",),
    "nvidia-l4": ("NVIDIA-L4",),
    "NVIDIA-H100-SXM5-80GB": ("NVIDIA-H100-80GB-HBM3",),
    "NVIDIA H100 PCIe": ("NVIDIA-H100-PCIe",),
    "NVIDIA-T4": ("Tesla-T4",),
    "nvidia-tesla-t4": ("Tesla-T4",),
    "AMD-Instinct-MI300X": ("AMD-Instinct-MI300X-OAM",),
    "AMD-Instinct-MI325-OAM": ("AMD-Instinct-MI325X",),
    "ascend910b3": ("910B3",),
    "910B": ("910B1", "910B2", "910B3", "910B4"),
    "C500": ("MXC500",),
    "NVIDIA-H20": ("NVIDIA-H20",),
}
NO_IDEA = [
    *("", " ", "-", "_", "NVIDIA", "nvidia-", "Tesla", "AMD-Instinct", "H2", "H2O", "H", "A", "A1", "MI300"),
    *("NVIDIA-H2", "NVIDIA-H201", "NVIDIA-GeForce-RTX-3090", "NVIDIA-L4-24GB", "t4g", "{{ .Values.gpu }}"),
    *("true", "8", "present", "-SHARED", "-MIG-1g.5gb"),
]


@pytest.mark.parametrize(("value", "expected"), CANDIDATES.items(), ids=str)
def test_candidates(value: str, expected: tuple[str, ...]) -> None:
    assert tuple(card.product for card in suggestions.candidates(value)) == expected


@pytest.mark.parametrize("value", NO_IDEA)
def test_no_candidates(value: str) -> None:
    assert suggestions.candidates(value) == ()


@pytest.mark.parametrize("card", cards.products(), ids=lambda card: card.product)
def test_every_mistaken_form_leads_to_its_card(card: cards.Product) -> None:
    for form in card.wrong:
        assert suggestions.candidates(form) == (card,)
    for form in card.short:
        found = suggestions.candidates(form)
        assert found == tuple(other for other in cards.products() if form in other.short)
        assert card in found
    assert suggestions.candidates(card.product.lower().replace("-", "_")) == (card,)


@given(st.text())
def test_candidates_of_any_text(value: str) -> None:
    found = suggestions.candidates(value)
    assert list(found) == sorted(found, key=lambda card: card.product)


RIGHT = """
cpu memory ephemeral-storage hugepages-2Mi pods storage attachable-volumes-aws-ebs
example.com/dongle nvidia.com/gpu nvidia.com/gpu.shared nvidia.com/mig-1g.5gb
nvidia.com/mig-1g.10gb.me nvidia.com/mig-1g.24gb-me nvidia.com/mig-1g.24gb.me.all
nvidia.com/mig-1g.5gb.shared nvidia.com/GA102GL_A10 nvidia.com/TU104GL_Tesla_T4
nvidia.com/GRID_T4-1Q nvidia.com/NVIDIA_A10-24Q nvidia.com/GP102GL_Tesla_P40 nvidia.com/pgpu
nvidia.com/hostdev nvidia.com/mlnxnics nvidia.com/sriov_rdma nvidia.com/rdma_ib nvidia.com/cx6dx_vf
nvidia.com/gpumem nvidia.com/gpumem-percentage nvidia.com/gpucores nvidia.com/priority
nvidia.com/vgpu volcano.sh/vgpu-number volcano.sh/vgpu-memory volcano.sh/vgpu-memory-percentage
volcano.sh/vgpu-cores volcano.sh/gpu-number volcano.sh/gpu-memory koordinator.sh/gpu
koordinator.sh/gpu.shared koordinator.sh/gpu-core koordinator.sh/gpu-memory-ratio
koordinator.sh/rdma koordinator.sh/batch-cpu kubernetes.io/batch-cpu kubernetes.io/mid-memory
kubernetes.io/gpu-core rdma/hca rdma/ib openshift.io/sriovnic intel.com/sriov_netdevice
intel.com/gpu mellanox.com/cx5 vpc.amazonaws.com/efa vke.volcengine.com/rdma aliyun/erdma
amd.com/gpu amd.com/cpx_nps4 amd.com/nic amd.com/xilinx_u250 habana.ai/gaudi gpu.intel.com/i915
gpu.intel.com/xe gpu.intel.com/monitoring gpu.intel.com/millicores npu.intel.com/accel
qat.intel.com/generic huawei.com/Ascend910 huawei.com/Ascend310P huawei.com/Ascend910B
huawei.com/Ascend910B3 huawei.com/Ascend910B3-memory huawei.com/Ascend910B5 huawei.com/Ascend910-2c
huawei.com/Ascend910-9c huawei.com/Ascend910-5c.1cpu.16g huawei.com/npu huawei.com/npu-core
huawei.com/ascend-1980 huawei.com/ub_rdma google.com/tpu cloud-tpus.google.com/v2
aws.amazon.com/neuron aws.amazon.com/neuroncore aws.amazon.com/neurondevice cambricon.com/mlu
cambricon.com/mlu370 cambricon.com/mlu.smlu.vcore cambricon.com/mlu370.mim-2m.8gb cambricon.com/vmlu
hygon.com/dcu hygon.com/dcunum hygon.com/dcu-share-30c-16g dcu.com/gpu metax-tech.com/sgpu
metax-tech.com/vcore mthreads.com/gpu mthreads.com/sgpu-core kunlunxin.com/xpu baidu.com/xpu
baidu.com/cgpu enflame.com/gcu enflame.com/gcu-count enflame.com/drs-gcu iluvatar.com/gpu
iluvatar.ai/gpu iluvatar.ai/BI-V150-vgpu iluvatar.ai/BI-V150.vMem birentech.com/gpu
birentech.com/1-2-gpu alibabacloud.com/ppu alibabacloud.com/gpu-mem aliyun.com/gpu-mem
furiosa.ai/rngd rebellions.ai/ATOM elasticgpu.io/gpu-core tencent.com/vcuda-core
k8s.amazonaws.com/vgpu smarter-devices/fuse github.com/fuse squat.ai/fuse devices.kubevirt.io/kvm
networking.gke.io.networks/rdma-0
"""

GPU = ("nvidia.com/gpu",)
LABEL = "is a node label, not a resource"
CASE = "is written in the wrong case"
BARE = "has no vendor's domain before it"
MODEL = "is a card model, which pods choose by node label"
NO_RESOURCE = "is not a resource of nvidia.com"
UNKNOWN = "is not a known resource"

WRONG = {
    "nvidia.com": ("names a vendor but no resource", GPU),
    "nvidia": ("names a vendor but no resource", GPU),
    "nvidia.com/gpu.product": (LABEL, GPU),
    "nvidia.com/gpu.memory": (LABEL, GPU),
    "nvidia.com/gpu.count": (LABEL, GPU),
    "nvidia.com/gpu.driver-version": (LABEL, GPU),
    "nvidia.com/mig.config": (LABEL, GPU),
    "amd.com/gpu.vram": (LABEL, ("amd.com/gpu",)),
    "nvidia.com/mig-1g.10gb+me": (
        "has a '+', which no resource name may have",
        ("nvidia.com/mig-1g.10gb.me",),
    ),
    "nvidia.com/mig-1g.5Gb": (CASE, ("nvidia.com/mig-1g.5gb",)),
    "nvidia.com/GPU": (CASE, GPU),
    "Nvidia.com/gpu": (CASE, GPU),
    "amd.com/GPU": (CASE, ("amd.com/gpu",)),
    "huawei.com/ascend910": (CASE, ("huawei.com/Ascend910",)),
    "nvidia.com/a100": (MODEL, GPU),
    "nvidia.com/h100": (MODEL, GPU),
    "amd.com/mi300x": (MODEL, ("amd.com/gpu",)),
    "habana.ai/gaudi2": (MODEL, ("habana.ai/gaudi",)),
    "nvidia.com/gpus": (NO_RESOURCE, ("nvidia.com/gpu", "nvidia.com/pgpu")),
    "nvidia.com/gpu-memory": (NO_RESOURCE, ("nvidia.com/gpumem",)),
    "nvidia.com/mig-1g": (NO_RESOURCE, None),
    "nvidia.com/gup": (UNKNOWN, GPU),
    "habana.ai/gaudis": (UNKNOWN, ("habana.ai/gaudi",)),
    "nvidia/gpu": ("has the domain 'nvidia' instead of 'nvidia.com'", GPU),
    "requests.nvidia.com/gpu": ("is a key of a ResourceQuota", GPU),
    "alpha.kubernetes.io/nvidia-gpu": ("is no longer offered by Kubernetes", GPU),
    "koordinator.sh/gpu-shared": ("is not a resource of koordinator.sh", ("koordinator.sh/gpu.shared",)),
    "volcano.sh/vgpu": ("is not a resource of volcano.sh", None),
}


@pytest.mark.parametrize("name", RIGHT.split())
def test_a_name_that_may_be_right(name: str) -> None:
    assert suggestions.resource_problem(name) is None


@pytest.mark.parametrize(("name", "expected"), WRONG.items(), ids=WRONG)
def test_a_wrong_resource_name(name: str, expected: tuple[str, tuple[str, ...] | None]) -> None:
    found = suggestions.resource_problem(name)
    assert found is not None
    problem, meant = expected
    assert found[0] == problem
    if meant is not None:
        assert found[1] == meant
    assert all(resources.resource(suggestion) is not None for suggestion in found[1])


BARE_NAMES = {
    "gpu": "nvidia.com/gpu",
    "GPUs": "nvidia.com/gpu",
    "tpu": "google.com/tpu",
    "npu": "huawei.com/npu",
    "mlu": "cambricon.com/mlu",
}


@pytest.mark.parametrize(("name", "expected"), BARE_NAMES.items())
def test_a_resource_name_without_a_domain(name: str, expected: str) -> None:
    """Other vendors may have a resource of the same name."""
    found = suggestions.resource_problem(name)
    assert found is not None
    problem, meant = found
    assert problem == BARE
    assert expected in meant
    assert {each.partition("/")[2] for each in meant} == {expected.partition("/")[2]}


def test_the_most_common_vendor_is_suggested_first() -> None:
    found = suggestions.resource_problem("gpu")
    assert found is not None
    assert found[1][:2] == ("nvidia.com/gpu", "amd.com/gpu")


@given(st.text() | st.text("gpu nvidia.com/MIG-+1_", max_size=20).map("nvidia.com/".__add__))
def test_suggestions_are_real_names(name: str) -> None:
    found = suggestions.resource_problem(name)
    if found is not None:
        assert resources.resource(name) is None
        assert all(resources.resource(suggestion) is not None for suggestion in found[1])


@pytest.mark.parametrize(
    ("name", "vendor"),
    [
        ("NVIDIA-X999", "nvidia"),
        ("NVIDIA-GeForce-XY-12", "nvidia"),
        ("NVIDIA-H2O", None),
        ("NVIDIA-H20", None),
        ("H20", None),
        ("NVIDIA-H20-SHARED", None),
        ("Example-1", None),
    ],
)
def test_the_maker_of_a_card_that_is_not_listed(name: str, vendor: str | None) -> None:
    found = suggestions.maker(name)
    assert (found.vendor if found else None) == vendor
