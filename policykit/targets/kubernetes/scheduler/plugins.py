"""Scheduler plugins: their names by release, and default weights and ranges of those that score."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from policykit.generator.artifact import Notice
from policykit.model.cluster import Cluster
from policykit.model.release import Version
from policykit.model.workload import WorkloadKind
from policykit.namedtuple import NamedTuple
from policykit.targets.kubernetes.options import DEFAULT_NAMES

ALWAYS = 29
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
        ALWAYS,
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
    return frozenset(name for name, first in IN_TREE.items() if minor is None or first <= max(minor, ALWAYS))


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

KATALYST_PLUGINS = frozenset(
    {
        "NodeOvercommitment",
        "NodeResourceTopology",
        "QoSAwareNodeResourcesBalancedAllocation",
        "QoSAwareNodeResourcesFit",
    }
)
"""Source: kubewharf/katalyst-core, names of each plugin below pkg/scheduler/plugins (0.5)."""

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


FIT, AFFINITY = "NodeResourcesFit", "NodeAffinity"


class Scorer(NamedTuple):
    """A plugin of the default profile that scores."""

    weight: int
    max_difference: int
    """Largest difference between the scores of two nodes after normalising, of 100."""
    opt_in: bool = False
    """It scores only pods that ask for it: by affinity, or by a claim."""
    since: Version = Version(1, 28, 0)
    """First release where it scores."""


SCORE_PLUGINS: Mapping[str, Scorer] = {
    "TaintToleration": Scorer(3, 100),
    AFFINITY: Scorer(2, 100, opt_in=True),
    FIT: Scorer(1, 100),
    "PodTopologySpread": Scorer(2, 100),
    "InterPodAffinity": Scorer(2, 100, opt_in=True),
    # 100 less half the difference of two utilizations: 50 to 100. Since 1.36, the change of that by
    # the pod, moved to the same range.
    "NodeResourcesBalancedAllocation": Scorer(1, 50),
    "ImageLocality": Scorer(1, 100),
    "DynamicResources": Scorer(2, 100, opt_in=True, since=Version(1, 35, 0)),
}
"""Source: `apis/config/v1/default_plugins.go` of Kubernetes 1.28 to 1.37. PodTopologySpread scores pods
without constraints too: the system defaults hold for pods that a Service or controller selects."""


def rivals(version: Version) -> dict[str, int]:
    """Plugin to the most points it may give another node: weight times largest difference."""
    return {
        name: scorer.weight * scorer.max_difference
        for name, scorer in SCORE_PLUGINS.items()
        if not scorer.opt_in and name != FIT and version >= scorer.since
    }


def opt_in(version: Version) -> tuple[str, ...]:
    """Plugins left out of the sums, apart from NodeAffinity, whose weight is computed."""
    return tuple(
        name
        for name, scorer in SCORE_PLUGINS.items()
        if scorer.opt_in and name != AFFINITY and version >= scorer.since
    )


_SOFT_TAINTS = "TaintToleration"
_AGAINST = {
    name: (scorer.weight, scorer.max_difference)
    for name, scorer in SCORE_PLUGINS.items()
    if not scorer.opt_in and name not in (FIT, _SOFT_TAINTS)
}
"""Default score plugins that may favour another node although the pod does not ask for it: weight and
largest difference. NodeResourcesFit is not among them: LeastAllocated scores no node above an
empty one of the same size.
"""


def preference_notices(cluster: Cluster, weighed: bool = False) -> Iterator[Notice]:
    """One notice for each workload kind whose preference the default scheduler cannot guarantee.

    `weighed`: its weights are computed from the preferences, so there is nothing to report.
    """
    if weighed:
        return
    for workload in cluster.workloads.values():
        if workload.scheduler not in DEFAULT_NAMES or not cluster.usage_key:
            continue
        gap = preference_gap(cluster, workload)
        if gap is None:
            continue
        for_it = SCORE_PLUGINS[AFFINITY].weight * gap
        parts = {name: weight * swing for name, (weight, swing) in preference_rivals(cluster).items()}
        against = sum(parts.values())
        if for_it <= against:
            sums = " + ".join(f"{name} {points}" for name, points in parts.items())
            yield Notice(
                "kubernetes",
                f"{workload.name} is placed by the default scheduler, where its preferred usage counts "
                f"{for_it} points and {sums} may count {against} against it: an empty node of the preferred "
                "usage usually wins, but not always. A scheduler profile with a higher NodeAffinity weight "
                "would guarantee it",
            )


def preference_rivals(cluster: Cluster) -> dict[str, tuple[int, int]]:
    """Plugins that may favour another node: weight and largest difference."""
    found = dict(_AGAINST)
    if any(not taint.hard for pool in cluster.pools for taint in pool.taints):
        found[_SOFT_TAINTS] = (SCORE_PLUGINS[_SOFT_TAINTS].weight, SCORE_PLUGINS[_SOFT_TAINTS].max_difference)
    return dict(sorted(found.items()))


def preference_gap(cluster: Cluster, workload: WorkloadKind) -> int | None:
    """Points of NodeAffinity between the most preferred usage and the next, of 100; None: no rivals.

    Scores are normalised so that the best node has 100 (kube-scheduler 1.36).
    """
    usages = {pool.usage for pool in cluster.pools if pool.usage in workload.usages}
    weights = sorted((workload.prefer.get(usage, 0) for usage in usages), reverse=True)
    if len(weights) < 2 or weights[0] == 0:
        return None
    return 100 - 100 * weights[1] // weights[0]
