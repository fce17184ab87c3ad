"""Plugins that kube-scheduler's own image has not, and that others build in or built in once."""

from __future__ import annotations

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
"""Still known under v1beta2 and v1beta3, refused by name under v1."""
STRATEGIES = frozenset(
    {"NodeResourcesLeastAllocated", "NodeResourcesMostAllocated", "RequestedToCapacityRatio"}
)
"""Strategies of NodeResourcesFit that were plugins under v1beta1."""
_LONG_GONE = frozenset(
    {"DefaultPodTopologySpread", "NodeLabel", "NodePreferAvoidPods", "SelectorSpread", "ServiceAffinity"}
)
_OLDEST = ("v1alpha1", "v1alpha2", "v1beta1")


def once_known(api_version: object) -> frozenset[str]:
    """What a scheduler that reads this version of the configuration may have, and none has today."""
    number = api_version.rpartition("/")[2] if isinstance(api_version, str) else ""
    if number in _OLDEST:
        return VOLUME_LIMITS | STRATEGIES | _LONG_GONE
    if number == "v1beta2":
        return VOLUME_LIMITS | _LONG_GONE
    return VOLUME_LIMITS if number == "v1beta3" else frozenset()
