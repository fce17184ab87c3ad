"""Node labels by key."""

import pytest

from policykit.catalogue import labels


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("kubernetes.io/hostname", True),
        ("kubernetes.io/arch", True),
        ("topology.kubernetes.io/zone", True),
        ("node.kubernetes.io/instance-type", True),
        ("node-role.kubernetes.io/worker", True),
        ("feature.node.kubernetes.io/pci-10de.present", True),
        ("vendor.feature.node.kubernetes.io/x", True),
        ("failure-domain.beta.kubernetes.io/zone", True),
        ("beta.kubernetes.io/os", True),
        ("kubernetes.io/gpu-type", False),
        ("gpu-type", False),
        ("example.com/zone", False),
        ("", False),
    ],
)
def test_well_known(key: str, expected: bool) -> None:
    assert labels.well_known(key) is expected


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("cloud.google.com/gke-nodepool", "gke"),
        ("karpenter.sh/capacity-type", "karpenter"),
        ("karpenter.k8s.aws/instance-cpu", "karpenter-aws"),
        ("eks.amazonaws.com/nodegroup", "eks"),
        ("eks.amazonaws.com/instance-gpu-name", "eks-auto"),
        ("alpha.eksctl.io/nodegroup-name", "eks"),
        ("kubernetes.azure.com/mode", "aks"),
        ("agentpool", "aks"),
        ("accelerator", "aks"),
        ("alibabacloud.com/nodepool-id", "ack"),
        ("aliyun.accelerator/nvidia_name", "ack"),
        ("oci.oraclecloud.com/fault-domain", "oke"),
        ("machine.cluster.vke.volcengine.com/gpu-name", "vke"),
        ("gpu.nvidia.com/class", "coreweave"),
        ("node.koordinator.sh/gpu-model", "koordinator"),
        ("volcano.sh/nodegroup-name", "volcano"),
        ("node.gke.io/enable-writable-cgroups", "gke"),
        ("cloud.google.com", ""),
        ("nvidia.com/gpu.product", ""),
        ("gpu-type", ""),
        ("/", ""),
    ],
)
def test_provider(key: str, expected: str) -> None:
    assert labels.provider(key) == expected


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("kubernetes.io/hostname", True),
        ("node.kubernetes.io/instance-type", True),
        ("karpenter.k8s.aws/instance-gpu-name", True),
        ("karpenter.sh/nodepool", False),
        ("topology.kubernetes.io/zone", False),
        ("kubernetes.io/arch", False),
    ],
)
def test_names_machine(key: str, expected: bool) -> None:
    assert labels.names_machine(key) is expected


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("nvidia.com/gpu.product", "nvidia"),
        ("nvidia.com/mig-1g.5gb.product", "nvidia"),
        ("nvidia.com/gpu.deploy.dcgm", "nvidia"),
        ("amd.com/gpu.product-name", "amd"),
        ("hygon.com/dcu.name", "hygon"),
        ("node.kubernetes.io/npu.chip.name", "huawei"),
        ("nvidia.com/gpu.driver-version", ""),
        ("nvidia.com/mig.config", ""),
        ("nvidia.com/gpu", ""),
        ("gpu", ""),
    ],
)
def test_discovery(key: str, expected: str) -> None:
    assert labels.discovery(key) == expected


@pytest.mark.parametrize(
    ("key", "expected"),
    [("gpu", "nvidia-hami"), ("mthreads.com/gpu", "mthreads"), ("birentech.com", "biren"), ("gpu-type", "")],
)
def test_switch(key: str, expected: str) -> None:
    assert labels.switch(key) == expected


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("nvidia.com/gpu.memory", "integer"),
        ("nvidia.com/gpu.count", "integer"),
        ("enflame.com/gcu.memory", "integer"),
        ("karpenter.k8s.aws/instance-gpu-memory", "integer"),
        ("gpu.nvidia.com/vram", "integer"),
        ("nvidia.com/gpu.product", "text"),
        ("amd.com/gpu.vram", "text"),
        ("metax-tech.com/gpu.memory", "text"),
        ("hygon.com/dcu.vram", "text"),
        ("aliyun.accelerator/nvidia_mem", "text"),
        ("cloud.google.com/gke-accelerator", "text"),
        ("kubernetes.io/arch", "text"),
        ("huawei.com/topotree.superpodid", ""),
        ("example.com/rank", ""),
    ],
)
def test_label_format(key: str, expected: str) -> None:
    assert labels.label_format(key) == expected


def test_retired_keys_name_their_successor() -> None:
    assert labels.replaced_by("nvidia.com/gpu.driver-version") == "nvidia.com/cuda.driver-version.full"
    assert labels.replaced_by("nvidia.com/gpu.product") is None


def test_taints_of_gke_come_by_themselves() -> None:
    found = {str(each.taint): (each.automatic, each.when) for each in labels.provider_taints("gke")}
    assert found == {
        "nvidia.com/gpu=present:NoSchedule": (True, "when a pool without cards came first"),
        "google.com/tpu=present:NoSchedule": (True, ""),
    }


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("cloud.google.com/gke-nodepool", True),
        ("cloud.google.com/gke-accelerator-count", True),
        ("cloud.google.com/gke-tpu-topology", False),
        ("nvidia.com/gpu.product", False),
        ("", False),
    ],
)
def test_keys_on_nodes_of_any_card(key: str, expected: bool) -> None:
    assert labels.of_any_card(key) is expected
