"""Weights of NodeResourcesFitPlus and NodeAffinity with which packing and preferences decide.

Every plugin scores 0 to 100, times its weight. Each guarantee is therefore an inequality against the
worst case of all other plugins, and the weight is the smallest integer that satisfies it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import pairwise

from policykit.kube.scores import MAX_SCORE, Shape, ratio
from policykit.model.workload import WorkloadKind
from policykit.namedtuple import NamedTuple
from policykit.targets.koordinator.options import Fit
from policykit.targets.koordinator.scheduler.plugins import (
    BALANCED,
    COSCHEDULING,
    DEVICES,
    FIT_PLUS,
    RESERVATION,
)

_CARDS = frozenset({"nvidia.com/gpu", "amd.com/gpu", "dcu.com/gpu", "huawei.com/npu-core"})
"""Devices of DeviceShare, in addition to everything under koordinator.sh/."""
BALANCED_SWING = 50
"""One minus a standard deviation of fractions, which never exceeds one half."""
CONDITIONAL: Mapping[str, str] = {
    "NodeAffinity": "pods with preferred node affinity",
    "InterPodAffinity": "pods with preferred pod affinity, or near pods that have it",
    RESERVATION: "pods that may use a Reservation",
    COSCHEDULING: "pods with a network-topology-selector",
    "DynamicResources": "pods with resource claims",
    "VolumeBinding": "pods with volumes not yet bound",
}
"""Plugin to the pods it scores: it is meant to decide for those, so it is not outweighed."""


class Rival(NamedTuple):
    """A plugin that scores every pod."""

    plugin: str
    weight: int
    swing: int
    """Largest difference of its score between two nodes."""

    @property
    def points(self) -> int:
        return self.weight * self.swing


class Margin(NamedTuple):
    """How much more cards in use raise the score of a node over another of equal size, at least."""

    resource: str
    cards: int
    """Cards per node."""
    step: int
    """Smallest difference in cards in use with which the fuller node is sure to win."""
    points: int
    """Smallest difference of the scores at that step; 0: no step is sure to make one."""


def rivals(
    scoring: Mapping[str, int],
    resources: Iterable[str],
    *,
    soft_taints: bool,
    spreads: bool,
    own: Iterable[str] = (FIT_PLUS,),
) -> tuple[Rival, ...]:
    """The active plugins that a packing decision must outweigh, in their order.

    `own`: those that make the decision; `soft_taints`: some node carries a PreferNoSchedule taint;
    `spreads`: PodTopologySpread has default constraints.
    """
    devices = any(map(is_device, resources))
    swings = {
        BALANCED: BALANCED_SWING,
        "TaintToleration": MAX_SCORE if soft_taints else 0,
        "PodTopologySpread": MAX_SCORE if spreads else 0,
        DEVICES: MAX_SCORE if devices else 0,
        **dict.fromkeys((*CONDITIONAL, *own), 0),
    }
    found = (Rival(name, weight, swings.get(name, MAX_SCORE)) for name, weight in scoring.items())
    return tuple(rival for rival in found if rival.swing)


def is_device(resource: str) -> bool:
    """Whether DeviceShare allocates it."""
    return resource in _CARDS or resource.startswith("koordinator.sh/")


def margin(resource: str, cards: int, fit: Mapping[str, Fit], others: Iterable[str]) -> Margin:
    """The smallest difference in use that is sure to decide, and the points it is worth.

    `others`: resources of `fit` that a pod may request along with the card. Their use is assumed to
    count against the difference: anything from empty to full on either node.
    """
    weight = fit[resource].weight
    rest = [fit[name] for name in others]
    for step in range(1, cards + 1):
        points = _points(weight, MAX_SCORE * step // cards, rest)
        if points > 0:
            return Margin(resource, cards, step, points)
    return Margin(resource, cards, cards, 0)


def shape_margin(
    resource: str, cards: int, fit: Mapping[str, Fit], others: Iterable[str], shape: Shape
) -> Margin:
    """The same for RequestedToCapacityRatio: the smallest difference that its shape guarantees.

    A resource that scores 0 is left out of the mean, so with other resources a shape that reaches 0
    guarantees nothing.
    """
    weight, rest = fit[resource].weight, [fit[name].weight for name in others]
    points = [ratio(used, cards, shape) for used in range(1, cards + 1)]
    if fit[resource].type == "LeastAllocated":
        points.reverse()
    if not rest or all(points):
        for step in range(1, cards):
            moved = min(points[at] - points[few] for at in range(step, cards) for few in range(at - step + 1))
            sure = (weight * moved - MAX_SCORE * sum(rest)) // (weight + sum(rest))
            if sure > 0:
                return Margin(resource, cards, step, sure)
    return Margin(resource, cards, cards, 0)


def avoidance_gap(scarce: int, others: int) -> int:
    """Points by which ScarceResourceAvoidance marks down a node with `scarce` scarce resources.

    `others`: other resources on it that the pod does not request.
    """
    return MAX_SCORE - others * MAX_SCORE // (scarce + others)


def avoidance_weight(against: Iterable[Rival], packing: int, others: int) -> int:
    """Smallest weight of ScarceResourceAvoidance with which a plain node comes before any scarce one."""
    return (sum(rival.points for rival in against) + packing * MAX_SCORE) // avoidance_gap(1, others) + 1


def card_weight(cards: int, others: Iterable[Fit]) -> int:
    """Default weight of a card: one more in use is worth half the points of its own score.

    If that is less than two points, it is computed for as many cards as make up two points.
    """
    moved = max(MAX_SCORE // cards, 2)
    return lightest(moved, others, moved // 2)


def lightest(moved: int, others: Iterable[Fit], points: int) -> int:
    """Smallest weight with which a card that moves its own score by `moved` is worth `points` < `moved`."""
    rest = list(others)
    weight = 1
    while _points(weight, moved, rest) < points:
        weight += 1
    return weight


def decides_singly(cards: int) -> bool:
    """Whether a single card can decide with some weight: it must be worth two points of its own score."""
    return MAX_SCORE // cards >= 2


def packing_weight(margins: Iterable[Margin], against: Iterable[Rival]) -> int:
    """Smallest weight of the plugin with which the fuller node wins against all rivals together."""
    least = min((each.points for each in margins if each.points), default=1)
    return sum(rival.points for rival in against) // least + 1


def preference_weight(gap: int, against: Iterable[Rival], packing: int) -> int:
    """Smallest weight of NodeAffinity with which an empty preferred node beats any other full one."""
    return (sum(rival.points for rival in against) + packing * MAX_SCORE) // gap + 1


def preference_gap(kind: WorkloadKind) -> int:
    """Least difference of normalised NodeAffinity scores between two of a kind's usages, 1 to 100.

    Scores are normalised to the highest among the nodes that a pod fits on, whichever usages those
    have. Weights are between 1 and 100, so different ones stay different.
    """
    levels = sorted({0, *kind.prefer.values()} if not kind.usages else _levels(kind))
    gaps = [
        MAX_SCORE * upper // highest - MAX_SCORE * lower // highest
        for position, highest in enumerate(levels)
        if highest > 0
        for lower, upper in pairwise(levels[: position + 1])
    ]
    return min(gaps, default=MAX_SCORE)


def _levels(kind: WorkloadKind) -> set[int]:
    return {kind.prefer.get(usage, 0) for usage in kind.usages}


def _points(weight: int, moved: int, rest: list[Fit]) -> int:
    """Least difference of the truncated means when the card's score differs by `moved`."""
    against = sum(each.weight * _reach(each) for each in rest)
    return (weight * moved - against) // (weight + sum(each.weight for each in rest))


def _reach(fit: Fit) -> int:
    """A pod that requests a resource leaves no node entirely free of it: LeastAllocated stays below 100."""
    return MAX_SCORE - 1 if fit.type == "LeastAllocated" else MAX_SCORE
