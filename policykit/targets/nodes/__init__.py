"""Nodes: labels, taints, join-time files, and tolerations of their daemons."""

from __future__ import annotations

import re
from functools import partial

from policykit.lazy import Lazy
from policykit.linter.configurations import Configuration
from policykit.linter.target import FactReader, Target
from policykit.manifests.document import Manifest
from policykit.manifests.path import Path, lookup

PLUGIN_CONFIGURATION = "configuration of nvidia-device-plugin"
MIG_CONFIGURATION = "config.yaml of nvidia-mig-manager"
AMD_PARTITIONS = "config.json of AMD's device config manager"
HAMI_CONFIGURATION = "device-config.yaml of HAMi"


def _matches_shape(data: object) -> bool:
    """Whether it has a version and what NVIDIA's device plugin shares, or its flags."""
    if not isinstance(data, dict) or not isinstance(data.get("version"), str):
        return False
    sharing, flags = data.get("sharing"), data.get("flags")
    shares = isinstance(sharing, dict) and ("timeSlicing" in sharing or "mps" in sharing)
    return shares or (isinstance(flags, dict) and "migStrategy" in flags)


_OF_PLUGIN = r"\s*version: *v1 *\n(?:.*\n)*?[ \t]*(?:timeSlicing|migStrategy|mps) *:"
_OF_MIG_MANAGER = r"\s*version: *v1 *\n(?:.*\n)*?mig-configs *:"
_UNFINISHED = ("{{", "{%", "<%")


def _begins_as(form: str, holder: Manifest, path: Path) -> bool:
    """Whether a value of a ConfigMap has the first lines of a configuration, be it YAML or not."""
    text = lookup(holder.data, path) if holder.kind == "ConfigMap" and not holder.partial else None
    return (
        isinstance(text, str) and bool(re.match(form, text)) and not any(one in text for one in _UNFINISHED)
    )


def _is_of_hami(data: object) -> bool:
    """Whether it names resources of cards or chips, says how cards are shared, or has settings of nodes."""
    if not isinstance(data, dict) or "kind" in data:
        return False
    nvidia, chips = data.get("nvidia"), data.get("vnpus")
    if isinstance(data.get("nodeconfig"), list | dict):
        return True
    if isinstance(nvidia, dict) and ("resourceCountName" in nvidia or "deviceSplitCount" in nvidia):
        return True
    listed = chips.get("configs") if isinstance(chips, dict) else chips
    return isinstance(listed, list) and any(isinstance(each, dict) and "chipName" in each for each in listed)


def _is_of_amd(data: object) -> bool:
    return isinstance(data, dict) and isinstance(data.get("gpu-config-profiles"), dict)


def _is_of_mig_manager(data: object) -> bool:
    return isinstance(data, dict) and isinstance(data.get("mig-configs"), dict)


TARGET = Target(
    "nodes",
    "Nodes",
    generate=Lazy("policykit.targets.nodes.generate:generate"),
    import_reader=Lazy("policykit.targets.nodes.importing:NodesReader"),
    configurations=(
        Configuration(
            PLUGIN_CONFIGURATION,
            ("timeSlicing", "migStrategy", "mps:"),
            _matches_shape,
            partial(_begins_as, _OF_PLUGIN),
        ),
        Configuration(
            MIG_CONFIGURATION, ("mig-configs",), _is_of_mig_manager, partial(_begins_as, _OF_MIG_MANAGER)
        ),
        Configuration(AMD_PARTITIONS, ("gpu-config-profiles",), _is_of_amd),
        Configuration(
            HAMI_CONFIGURATION, ("resourceCountName", "deviceSplitCount", "vnpus", "nodeconfig"), _is_of_hami
        ),
    ),
    facts=(
        FactReader(
            Lazy("policykit.targets.nodes.device_plugin_facts:facts"),
            frozenset(
                {
                    "Application",
                    "ClusterPolicy",
                    "HelmRelease",
                    "Namespace",
                    "Node",
                    "NodeFeatureRule",
                    "NodePool",
                    HAMI_CONFIGURATION,
                    MIG_CONFIGURATION,
                    PLUGIN_CONFIGURATION,
                }
            ),
            pods=True,
            substrings=(
                "nvidia.com/",
                "mig-configs",
                "migStrategy",
                "gpu-operator",
                "nvidia-device-plugin",
                "k8s-device-plugin",
                "hami.io/",
                "huawei.com/Ascend",
            ),
        ),
        FactReader(
            Lazy("policykit.targets.nodes.kubevirt_facts:facts"),
            frozenset({"KubeVirt", "VirtualMachine", "VirtualMachineInstance"}),
        ),
        FactReader(
            Lazy("policykit.targets.nodes.machine_pool_facts:uses"), pods=True, substrings=("karpenter.sh/",)
        ),
        FactReader(
            Lazy("policykit.targets.nodes.machine_pool_facts:facts"),
            frozenset(
                {
                    "AKSNodeClass",
                    "ClusterConfig",
                    "EC2NodeClass",
                    "InitConfiguration",
                    "JoinConfiguration",
                    "Node",
                    "NodeFeatureRule",
                    "NodePool",
                    "Provisioner",
                }
            ),
            pods=True,
            substrings=(
                "nodeSelector",
                "nodeAffinity",
                "karpenter.sh",
                "odeRegistration",
                "kind: Node",
                "DaemonSet",
                "maxPods",
                "odeGroups",
            ),
        ),
    ),
    always=True,
)
