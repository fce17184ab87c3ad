"""Comments and notices of the profiles: the arithmetic of the weights, and its limits."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from policykit.model.workload import BINPACK, Placement, WorkloadKind
from policykit.targets import pool_capacity
from policykit.targets.kubernetes.scheduler.configuration import RATIO, Fit

CARDS_ALONE = (
    "Only cards are scored: with cpu and memory in the list, their usage could outweigh a card. This "
    "strategy does not affect pods that request no card."
)
ALL_NODES = (
    "percentageOfNodesToScore 100: by default only a sample is scored where there are more than 100 nodes, "
    "and it may miss the best one."
)


def opening(scheduler: str, placement: str) -> str:
    return f"{scheduler}, placement {placement}. Each score is 0 to 100 times its plugin's weight."


def leading(resource: str, sizes: Sequence[int], least: int, weight: int, against: Mapping[str, int]) -> str:
    """Comment: the worst case for one card resource."""
    per_node = " or ".join(map(str, sizes))
    if least <= 0:
        return f"{resource}, {per_node} per node: no weight of NodeResourcesFit lets one card decide."
    return (
        f"{resource}, {per_node} per node: a difference of one card between two nodes of this size is worth "
        f"at least {least} points, whatever else runs on them: {weight} x {least} = {weight * least} > "
        f"{_sum(against)}."
    )


def no_card_scored(weight: int, against: Mapping[str, int]) -> str:
    """Comment: what decides where the strategy scores no card."""
    return f"No card to score: a difference of one point decides: {weight} > {_sum(against)}."


def _sum(against: Mapping[str, int]) -> str:
    terms = " + ".join(f"{name} {points}" for name, points in against.items())
    return f"{sum(against.values())} = {terms}"


def preferring(weight: int, gap: int, fit: int, rivals: int) -> str:
    """Comment: the worst case between two usages."""
    return (
        "An empty node of a preferred usage beats any node of the next usage, however full: NodeAffinity "
        f"{weight} x {gap} = {weight * gap} > {100 * fit + rivals} = NodeResourcesFit {100 * fit} + "
        f"{rivals}."
    )


def opt_in_plugins(names: Sequence[str]) -> str:
    return (
        f"Not included, because pods must opt in to them: {', '.join(names)}. All other plugins keep their "
        "defaults."
    )


def one_direction(placement: Placement, main: str, left: Sequence[str]) -> str:
    kind = "with a shape" if placement.shape else f"that is {main}"
    verb = "is" if len(left) == 1 else "are"
    return (
        f"placement {placement.name}: a kube-scheduler profile places all resources in one direction, so "
        f"{', '.join(left)} {verb} left out of its strategy {kind}. For the other direction, add a "
        "placement with its own scheduler"
    )


def without_shape(placement: Placement, main: str) -> str:
    return (
        f"placement {placement.name}: its shape is for {placement.strategy}, but all its resources are "
        f"placed by {main}: the shape is omitted"
    )


def unknown_size(placement: Placement, resource: str) -> str:
    return (
        f"placement {placement.name}: the number of {resource} per node is not known for every pool: the "
        f"weights assume {pool_capacity.ASSUMED_CARDS}. Set allocatable in the policy"
    )


def mixed_sizes(placement: Placement, resource: str, sizes: Sequence[int]) -> str:
    return (
        f"placement {placement.name}: nodes have {' or '.join(map(str, sizes))} of {resource}, and "
        "kube-scheduler compares ratios, not numbers: the order is certain only among nodes of the same size"
    )


def too_light(placement: Placement, resource: str, cards: int, fit: Fit, alone: Collection[str]) -> str:
    others = sorted(set(alone) - {resource})
    if fit.strategy == RATIO:
        return (
            f"placement {placement.name}: a score of 0 in the shape takes {resource} out of the mean, so "
            f"{', '.join(others)} may outweigh it. Start the shape at score 1, or list only cards"
        )
    if others:
        return (
            f"placement {placement.name}: {resource} has weight {fit.resources[resource]} beside "
            f"{', '.join(f'{name} {fit.resources[name]}' for name in others)}, so one card of {cards} can "
            "be outweighed. Raise the card to 100, or list only cards"
        )
    return (
        f"placement {placement.name}: a node has {cards} of {resource}, and scores are whole numbers up to "
        "100: nodes that differ by one of them may score the same"
    )


def no_cards(placement: Placement) -> str:
    return (
        f"placement {placement.name}: no pool of its workload kinds has a card, so it scores "
        f"{_list(placement)}"
    )


def _list(placement: Placement) -> str:
    return ", ".join(sorted(placement.resources))


def unused_profile(placement: Placement, elsewhere: Sequence[WorkloadKind]) -> str:
    """`elsewhere`: workload kinds that name the placement, and another scheduler."""
    if elsewhere:
        listed = ", ".join(f"{kind.name} ({kind.scheduler})" for kind in elsewhere)
        return (
            f"placement {placement.name} has the scheduler {placement.scheduler}, which no workload kind "
            f"uses: the kinds that use the placement set another, {listed}. Remove the scheduler from one "
            "of the two"
        )
    return (
        f"placement {placement.name} has a scheduler profile that no workload kind uses: set the placement "
        "of a workload kind, or set schedulerName in pods"
    )


def outweighed_spread(placement: Placement, kinds: Sequence[str]) -> str:
    how = "packing" if placement.strategy == BINPACK else "spreading"
    return (
        f"workload kind {', '.join(kinds)}: {how} cards by placement {placement.name} outweighs a soft "
        "`across`. If pods must be spread, set mode: hard"
    )


def unsupported_avoid(placement: Placement, tainted: Sequence[str], open_pools: Sequence[str]) -> str:
    text = (
        f"placement {placement.name}: kube-scheduler has no score that keeps other pods off "
        f"{', '.join(placement.avoid)}. Nearest: a taint on its nodes"
    )
    if open_pools:
        return f"{text}: {_pools(open_pools)} no such taint"
    return f"{text}, which {_pools(tainted)}" if tainted else text


def _pools(names: Sequence[str]) -> str:
    return f"pool {names[0]} has" if len(names) == 1 else f"pools {', '.join(names)} have"


def foreign_scheduler(scheduler: str, placement: str) -> str:
    return (
        f"placement {placement}: its scheduler {scheduler} belongs to another system, so no kube-scheduler "
        "profile is written for it"
    )


def default_elsewhere(placement: str) -> str:
    return (
        f"placement {placement} uses default-scheduler, which a second scheduler must not serve. Nearest: "
        "give the placement its own scheduler name, or set targets.kubernetes.scheduler.as: cluster"
    )


def no_scheduler_name(placement: str) -> str:
    return (
        f"placement {placement} has no scheduler, so it gets no profile: set its scheduler, or use it for "
        "default-scheduler with targets.kubernetes.scheduler.default and as: cluster"
    )


RESTART = (
    "the cluster's own scheduler reads kubernetes/kube-scheduler.yaml only at startup: restart it after "
    "each change, on every control plane node (see kubernetes/README.md)"
)
ASSUMED_VERSION = (
    "the policy has no `kubernetes` version, so the second scheduler uses the image of the newest known "
    "release: set the cluster's version, which must not be older"
)


def managed_control_plane(provider: str) -> str:
    return (
        f"the control plane of {provider} is managed, and its scheduler takes no configuration: a second "
        "scheduler is generated instead of targets.kubernetes.scheduler.as: cluster"
    )
