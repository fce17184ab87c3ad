"""kube-scheduler's own plugins that score nodes: weights in the default profile, and score ranges."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from policykit.targets.release import Version

FIT, AFFINITY = "NodeResourcesFit", "NodeAffinity"


class Scorer(NamedTuple):
    """A plugin of the default profile that scores."""

    weight: int
    max_difference: int
    """Largest difference between two nodes that its own normalising leaves, of 100."""
    opt_in: bool = False
    """It scores only pods with a preference of their own: affinity, a claim."""
    since: Version = Version(1, 29, 0)
    """First release where it scores."""


SCORE_PLUGINS: Mapping[str, Scorer] = {
    "TaintToleration": Scorer(3, 100),
    AFFINITY: Scorer(2, 100, opt_in=True),
    FIT: Scorer(1, 100),
    "PodTopologySpread": Scorer(2, 100),
    "InterPodAffinity": Scorer(2, 100, opt_in=True),
    # 1 less half the difference of two filled shares, times 100: 50 to 100. Since 1.36 it is the change
    # of that by the pod, moved to the same range.
    "NodeResourcesBalancedAllocation": Scorer(1, 50),
    "ImageLocality": Scorer(1, 100),
    "DynamicResources": Scorer(2, 100, opt_in=True, since=Version(1, 35, 0)),
}
"""Source: `apis/config/v1/default_plugins.go` of Kubernetes 1.29 to 1.37. PodTopologySpread scores pods
without constraints too: the system defaults hold for pods that a Service or controller selects."""


def rivals(version: Version) -> dict[str, int]:
    """Plugin to the points it may give another node on its own: weight times largest difference."""
    return {
        name: scorer.weight * scorer.max_difference
        for name, scorer in SCORE_PLUGINS.items()
        if not scorer.opt_in and name != FIT and version >= scorer.since
    }


def opt_in(version: Version) -> tuple[str, ...]:
    """Plugins left out of the sums, NodeAffinity apart, which has a weight of its own."""
    return tuple(
        name
        for name, scorer in SCORE_PLUGINS.items()
        if scorer.opt_in and name != AFFINITY and version >= scorer.since
    )
