"""Notices about a preferred usage under the default scheduler, whose weights are fixed."""

from __future__ import annotations

from collections.abc import Iterator

from policykit.generator.artifact import Notice
from policykit.model.cluster import Cluster
from policykit.model.workload import WorkloadKind
from policykit.targets.kubernetes.names import DEFAULT_NAMES
from policykit.targets.kubernetes.scheduler.plugins import AFFINITY, FIT, SCORE_PLUGINS

_SOFT_TAINTS = "TaintToleration"
_AGAINST = {
    name: (scorer.weight, scorer.max_difference)
    for name, scorer in SCORE_PLUGINS.items()
    if not scorer.opt_in and name not in (FIT, _SOFT_TAINTS)
}
"""Default score plugins that may favour the other node without the pod asking: weight and the
largest difference. NodeResourcesFit is not among them: LeastAllocated scores no node above an
empty one of the same size.
"""


def notices(cluster: Cluster, weighed: bool = False) -> Iterator[Notice]:
    """One per workload kind whose preference the default scheduler cannot guarantee.

    None where its weights are `weighed`, that is, computed from the preferences.
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
        parts = {name: weight * swing for name, (weight, swing) in rivals(cluster).items()}
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


def rivals(cluster: Cluster) -> dict[str, tuple[int, int]]:
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
