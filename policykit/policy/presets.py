"""The scheme presets: their labels and taints, and those that a cloud sets by itself."""

from __future__ import annotations

from collections.abc import Mapping

from policykit.kube.node_label_values import GKE_SHARING
from policykit.model.pool import Taint
from policykit.namedtuple import NamedTuple


class Preset(NamedTuple):
    """A label and taint design. `{domain}` in a key stands for the policy's domain.

    What clouds set follows their node pool documentation as of November 2026.
    """

    usage_taint: bool = True
    product_taint: bool = True
    """Nodes with cards have a taint; `card_taints` gives its key and value."""
    control_plane: str = ""
    """Key of the control plane taint; empty if the control plane is hidden or untainted."""
    provider: str = ""
    product_keys: Mapping[str, str] = {}
    """Vendor to the node label key that holds the cloud's name of the card."""
    product_values: Mapping[str, tuple[str, ...]] = {}
    """Catalogue product to the cloud's names for it, if they differ."""
    card_taints: Mapping[str, Taint] = {}
    """Vendor to the taint that the cloud itself sets."""
    card_keys: Mapping[str, tuple[str, ...]] = {}
    """Vendor to further label keys that the cloud sets on nodes with its cards."""
    resource_tolerations: bool = False
    """Whether the admission plugin ExtendedResourceToleration is enabled."""

    @property
    def cloud(self) -> bool:
        return bool(self.provider)


USAGE_KEY = "{domain}/node.usage"

_GKE_PRODUCTS = {
    "Tesla-T4": ("nvidia-tesla-t4",),
    "Tesla-V100-SXM2-16GB": ("nvidia-tesla-v100",),
    "NVIDIA-L4": ("nvidia-l4",),
    "NVIDIA-A100-SXM4-40GB": ("nvidia-tesla-a100",),
    "NVIDIA-A100-SXM4-80GB": ("nvidia-a100-80gb",),
    "NVIDIA-H100-80GB-HBM3": ("nvidia-h100-80gb", "nvidia-h100-mega-80gb"),
    "NVIDIA-H200": ("nvidia-h200-141gb",),
    "NVIDIA-B200": ("nvidia-b200",),
    "NVIDIA-GB200": ("nvidia-gb200",),
    "NVIDIA-GB300": ("nvidia-gb300",),
    "NVIDIA-RTX-PRO-6000-Blackwell-Server-Edition": ("nvidia-rtx-pro-6000",),
}

_GKE = "cloud.google.com/gke-"
GKE_SLICE = f"{_GKE}gpu-partition-size"
GKE_CLIENTS = f"{_GKE}max-shared-clients-per-gpu"

PRESETS: Mapping[str, Preset] = {
    "seed": Preset(control_plane="{domain}/control-plane"),
    "plain": Preset(usage_taint=False, product_taint=False),
    "gke": Preset(
        provider="gke",
        product_keys={
            "nvidia": f"{_GKE}accelerator",
            "google-tpu": f"{_GKE}tpu-accelerator",
        },
        product_values=_GKE_PRODUCTS,
        card_taints={
            "nvidia": Taint("nvidia.com/gpu", "present"),
            "google-tpu": Taint("google.com/tpu", "present"),
        },
        card_keys={
            "nvidia": (
                f"{_GKE}accelerator-count",
                f"{_GKE}gpu",
                f"{_GKE}gpu-driver-version",
                GKE_CLIENTS,
                GKE_SHARING,
                GKE_SLICE,
            ),
            "google-tpu": (f"{_GKE}accelerator-count", f"{_GKE}tpu-topology"),
        },
        resource_tolerations=True,
    ),
    # Neither EKS nor AKS taints card nodes by itself, and both leave the product label to
    # GPU Feature Discovery where that is installed.
    "eks": Preset(product_taint=False, provider="eks", resource_tolerations=True),
    "aks": Preset(product_taint=False, provider="aks", resource_tolerations=True),
    "ack": Preset(
        product_taint=False,
        provider="ack",
        product_keys={"nvidia": "aliyun.accelerator/nvidia_name", "thead": "aliyun.accelerator/ppu_name"},
        card_keys={
            "nvidia": ("aliyun.accelerator/nvidia_count", "aliyun.accelerator/nvidia_mem"),
            "thead": ("aliyun.accelerator/ppu_count", "aliyun.accelerator/ppu_mem"),
        },
    ),
}
