"""Names of scheduler plugins: kube-scheduler's own by release, and those of other projects."""

from __future__ import annotations

from collections.abc import Mapping

_ALWAYS = 29
"""The first minor release that this table covers."""

IN_TREE: Mapping[str, int] = {
    **dict.fromkeys(
        (
            "DefaultBinder",
            "DefaultPreemption",
            "DynamicResources",
            "ImageLocality",
            "InterPodAffinity",
            "NodeAffinity",
            "NodeName",
            "NodePorts",
            "NodeResourcesBalancedAllocation",
            "NodeResourcesFit",
            "NodeUnschedulable",
            "NodeVolumeLimits",
            "PodTopologySpread",
            "PrioritySort",
            "SchedulingGates",
            "TaintToleration",
            "VolumeBinding",
            "VolumeRestrictions",
            "VolumeZone",
        ),
        _ALWAYS,
    ),
    "GangScheduling": 35,
    "NodeDeclaredFeatures": 35,
    "PodGroupPodsCount": 36,
    "TopologyPlacementGenerator": 36,
    "DeferredPodScheduling": 37,
}
"""Plugin to the first minor release of Kubernetes 1 that knows it. Source: `plugins/names/names.go`."""


def in_tree_plugins(minor: int | None) -> frozenset[str]:
    """The plugins of a minor release; None: of any release."""
    return frozenset(name for name, first in IN_TREE.items() if minor is None or first <= max(minor, _ALWAYS))


SCHEDULER_PLUGINS = frozenset(
    {
        "CapacityScheduling",
        "Coscheduling",
        "CrossNodePreemption",
        "LoadVariationRiskBalancing",
        "LowRiskOverCommitment",
        "NetworkOverhead",
        "NodeMetadata",
        "NodeResourceTopologyMatch",
        "NodeResourcesAllocatable",
        "Peaks",
        "PodState",
        "PreemptionToleration",
        "QOSSort",
        "SySched",
        "TargetLoadPacking",
        "TopologicalSort",
    }
)
"""Source: kubernetes-sigs/scheduler-plugins, `Name` of each plugin below pkg/ (0.34)."""

VOLUME_LIMITS = frozenset({"AzureDiskLimits", "CinderLimits", "EBSLimits", "GCEPDLimits"})
"""Known under v1beta2 and v1beta3. Under v1 refused by name, except in lists of disabled plugins."""
VOLUME_LIMITS_END = 32
"""First minor release of Kubernetes 1 that does not know them at all."""
STRATEGY_PLUGINS = frozenset(
    {"NodeResourcesLeastAllocated", "NodeResourcesMostAllocated", "RequestedToCapacityRatio"}
)
"""Strategies of NodeResourcesFit that were plugins under v1beta1."""
_LONG_GONE = frozenset(
    {"DefaultPodTopologySpread", "NodeLabel", "NodePreferAvoidPods", "SelectorSpread", "ServiceAffinity"}
)
_UNDER_V1BETA3 = frozenset({"SelectorSpread"})
"""Known until 1.28, and refused under v1 only. Source: `apis/config/validation` of 1.28."""
_OLDEST = ("v1alpha1", "v1alpha2", "v1beta1")


def formerly_known(api_version: object) -> frozenset[str]:
    """Plugins that schedulers may have for this apiVersion, although current releases do not."""
    number = api_version.rpartition("/")[2] if isinstance(api_version, str) else ""
    if number in _OLDEST:
        return VOLUME_LIMITS | STRATEGY_PLUGINS | _LONG_GONE
    if number == "v1beta2":
        return VOLUME_LIMITS | _LONG_GONE
    return VOLUME_LIMITS | _UNDER_V1BETA3 if number == "v1beta3" else frozenset()
