"""Two nodes scored as kube-scheduler would with a profile, the other plugins at their worst."""

from collections.abc import Mapping
from typing import NamedTuple

from policykit.model.pool import Amounts
from policykit.targets.kubernetes.scheduler.configuration import Profile
from policykit.targets.kubernetes.scheduler.plugins import AFFINITY, FIT
from tests.kube import scoring


class Node(NamedTuple):
    """A node, and what plugins without arguments say of it, 0 to 100."""

    allocatable: Amounts
    used: Amounts = {}
    others: Mapping[str, int] = {}
    affinity: int = 0


def total(profile: Profile, node: Node, asked: Amounts, *, old: bool = False) -> int:
    """Σ of every plugin's score times its weight; `old`: as up to 1.35."""
    assert profile.fit is not None
    counted = scoring.shares(profile.fit.resources, node.allocatable, node.used, asked)
    parts = {
        FIT: scoring.fit_score(profile.fit.strategy, counted.values(), profile.fit.shape),
        "NodeResourcesBalancedAllocation": scoring.balanced_score(
            scoring.shares({"cpu": 1, "memory": 1}, node.allocatable, node.used, asked).values(),
            up_to_1_35=old,
        ),
        AFFINITY: node.affinity,
        **node.others,
    }
    weights = {**scoring.DEFAULT_WEIGHTS, "PodTopologySpread": 2, "ImageLocality": 1, **profile.weights}
    return sum(points * weights[name] for name, points in parts.items())
