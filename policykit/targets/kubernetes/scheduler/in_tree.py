"""Names of kube-scheduler's own plugins, gated ones included, and the release that brought each."""

from __future__ import annotations

from collections.abc import Mapping

_ALWAYS = 29
"""Minor release from which on this table is kept."""

FIRST: Mapping[str, int] = {
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


def known(minor: int | None) -> frozenset[str]:
    """Names that a release knows; None: those of any."""
    return frozenset(name for name, first in FIRST.items() if minor is None or first <= max(minor, _ALWAYS))
