"""Node daemons by image."""

import pytest

from policykit.catalogue import cards, daemons

IMAGES = {
    "nvcr.io/nvidia/k8s-device-plugin:v0.20.0": ("device-plugin", "nvidia"),
    "rocm/k8s-device-plugin": ("device-plugin", "amd"),
    "registry.local:5000/mirror/k8s-device-plugin:v1@sha256:abc": ("device-plugin", "nvidia"),
    "docker.io/projecthami/hami:v2.4": ("device-plugin", "nvidia"),
    "ascend-k8sdeviceplugin:v6.0.0": ("device-plugin", "huawei"),
    "projecthami/ascend-device-plugin": ("device-plugin", "huawei"),
    "public.ecr.aws/neuron/neuron-device-plugin:2.1": ("device-plugin", "aws-neuron"),
    "nvcr.io/nvidia/k8s/dcgm-exporter:4.2": ("exporter", "nvidia"),
    "registry.k8s.io/nfd/node-feature-discovery:v0.17": ("discovery", ""),
    "nvcr.io/nvidia/driver:550": ("driver", "nvidia"),
    "quay.io/prometheus/node-exporter:v1.8": ("exporter", ""),
    "docker.io/calico/node:v3.29": ("cni", ""),
    "registry.k8s.io/sig-storage/csi-node-driver-registrar:v2": ("csi", ""),
    "registry.k8s.io/autoscaling/cluster-autoscaler:v1.33": ("autoscaler", ""),
    "ghcr.io/mellanox/k8s-rdma-shared-dev-plugin": ("network", ""),
    "koordlet": ("agent", ""),
    "nginx:latest": ("", ""),
    "example/driver:1": ("", ""),
    "example/node": ("", ""),
    "nvidia/cuda:12.4": ("", ""),
    "vllm/vllm-openai": ("", ""),
    "${IMAGE}": ("", ""),
    "": ("", ""),
}


@pytest.mark.parametrize(("image", "expected"), IMAGES.items(), ids=IMAGES)
def test_role_and_vendor(image: str, expected: tuple[str, str]) -> None:
    assert (daemons.role(image), daemons.serves(image)) == expected


def test_charts_name_vendors_of_the_catalogue() -> None:
    found = daemons.charts()
    assert [(chart.chart, chart.value) for chart in found] == [
        ("gpu-operator", "daemonsets.tolerations"),
        ("gpu-operator", "node-feature-discovery.worker.tolerations"),
        ("nvidia-device-plugin", "tolerations"),
        ("nvidia-device-plugin", "nfd.worker.tolerations"),
        ("node-feature-discovery", "worker.tolerations"),
        ("dra-driver-nvidia-gpu", "kubeletPlugin.tolerations"),
        ("dcgm-exporter", "tolerations"),
        ("hami", "devicePlugin.tolerations"),
        ("gpu-operator-charts", "node-feature-discovery.worker.tolerations"),
    ]
    assert all(cards.vendor(chart.vendor) for chart in found if chart.vendor)


def test_tolerations_of_a_chart() -> None:
    nfd = daemons.charts()[3]
    assert [str(toleration) for toleration in nfd.tolerations] == [
        "node-role.kubernetes.io/master=:NoSchedule",
        "nvidia.com/gpu=present:NoSchedule",
    ]
