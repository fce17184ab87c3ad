"""kube-scheduler's score plugins: default weights, score ranges, and whether a preference outweighs them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from policykit.generator.artifact import Notice
from policykit.model.cluster import Cluster
from policykit.model.release import Version
from policykit.model.workload import WorkloadKind
from policykit.namedtuple import NamedTuple
from policykit.targets.kubernetes.scheduler_names import DEFAULT_NAMES

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
