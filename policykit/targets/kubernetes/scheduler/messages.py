"""The arithmetic of the profiles in words: why weights are as written, and what they cannot give."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from policykit.model.placement import BINPACK, Placement
from policykit.model.workload import WorkloadKind
from policykit.targets import fleet
from policykit.targets.kubernetes.scheduler.configuration import RATIO, Fit
from policykit.targets.kubernetes.versions import LAST_PATCH
from policykit.targets.release import Version

CARDS_ALONE = (
    "Only cards are judged: with cpu and memory in the list their fill could outweigh a card, and pods "
    "that ask for no card are placed without regard to it."
)
NO_CARDS = (
    "No card to judge by: cpu and memory count with the usual weight, which other plugins may outweigh."
)
ALL_NODES = (
    "percentageOfNodesToScore 100: of more than 100 nodes only a share would be scored, and the best one "
    "may not be in it."
)


def opening(scheduler: str, placement: str) -> str:
    return f"{scheduler}, placement {placement}. Each score is 0 to 100 times its plugin's weight."


def leading(resource: str, sizes: Sequence[int], least: int, weight: int, against: Mapping[str, int]) -> str:
    """Comment: the worst case for one card resource."""
    per_node = " or ".join(map(str, sizes))
    total = sum(against.values())
    if least <= 0:
        return f"{resource}, {per_node} per node: no weight of NodeResourcesFit lets one card decide."
    terms = " + ".join(f"{name} {points}" for name, points in against.items())
    return (
        f"{resource}, {per_node} per node: one card of difference between two alike nodes is worth at "
        f"least {least} points, whatever else they hold: {weight} x {least} = {weight * least} > {total} "
        f"= {terms}."
    )


def preferring(weight: int, gap: int, fit: int, rivals: int) -> str:
    """Comment: the worst case between two usages."""
    return (
        f"An empty node of a preferred usage wins over any fill of the next: NodeAffinity {weight} x {gap} "
        f"= {weight * gap} > {100 * fit + rivals} = NodeResourcesFit {100 * fit} + {rivals}."
    )


def opt_in_plugins(names: Sequence[str]) -> str:
    return (
        f"Not in the sums, as pods must ask for it: {', '.join(names)}. All other plugins stay as they are."
    )


def one_direction(placement: Placement, main: str, left: Sequence[str]) -> str:
    kind = "with a shape" if placement.shape else f"that is {main}"
    verb = "is" if len(left) == 1 else "are"
    return (
        f"placement {placement.name}: a kube-scheduler profile places all resources in one direction, so "
        f"{', '.join(left)} {verb} left out of its strategy {kind}. For the other direction, give a "
        "placement of its own with a scheduler of its own"
    )


def without_shape(placement: Placement, main: str) -> str:
    return (
        f"placement {placement.name}: its shape is for {placement.strategy}, and all its resources "
        "are placed by "
        f"{main}: the shape is left out"
    )


def unknown_size(placement: Placement, resource: str) -> str:
    return (
        f"placement {placement.name}: how many {resource} a node has is not known for every pool: "
        f"{fleet.ASSUMED_CARDS} are assumed for the weights. State allocatable in the policy"
    )


def mixed_sizes(placement: Placement, resource: str, sizes: Sequence[int]) -> str:
    return (
        f"placement {placement.name}: nodes hold {' or '.join(map(str, sizes))} of {resource}, and "
        "kube-scheduler compares shares, not numbers: the order is certain among nodes of one size only"
    )


def too_light(placement: Placement, resource: str, cards: int, fit: Fit, alone: Collection[str]) -> str:
    others = sorted(set(alone) - {resource})
    if fit.strategy == RATIO:
        return (
            f"placement {placement.name}: a score of 0 in the shape takes {resource} out of the mean, so "
            f"{', '.join(others)} may outweigh it. Begin the shape at score 1, or list cards alone"
        )
    if others:
        return (
            f"placement {placement.name}: {resource} has weight {fit.resources[resource]} beside "
            f"{', '.join(f'{name} {fit.resources[name]}' for name in others)}, so one card of {cards} can be "
            "outweighed. Raise the card to 100, or list cards alone"
        )
    return (
        f"placement {placement.name}: a node has {cards} of {resource}, and scores are whole numbers up to "
        "100: nodes that differ by one of them may score the same"
    )


def no_cards(placement: Placement) -> str:
    return (
        f"placement {placement.name}: no pool of its workload kinds offers a card, so it places by "
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
            f"uses: those that name the placement state another, {listed}. Leave the scheduler of one of the "
            "two out"
        )
    return (
        f"placement {placement.name} has a scheduler profile that no workload kind names: name the placement "
        "in a workload kind, or set schedulerName in pods"
    )


def outweighed_spread(placement: Placement, kinds: Sequence[str]) -> str:
    how = "packing" if placement.strategy == BINPACK else "spreading"
    return (
        f"workload kind {', '.join(kinds)}: {how} cards by placement {placement.name} outweighs a soft "
        "`across`. Where pods must stand apart, set mode: hard"
    )


def unsupported_avoid(placement: Placement, tainted: Sequence[str], open_pools: Sequence[str]) -> str:
    said = (
        f"placement {placement.name}: kube-scheduler has no score that keeps pods off "
        f"{', '.join(placement.avoid)}"
        " only because they do not ask for it. What comes nearest is a taint on its nodes"
    )
    if open_pools:
        return f"{said}: {_pools(open_pools)} none that repels"
    return f"{said}, which {_pools(tainted)}" if tainted else said


def _pools(names: Sequence[str]) -> str:
    return f"pool {names[0]} has" if len(names) == 1 else f"pools {', '.join(names)} have"


def foreign_scheduler(scheduler: str, placement: str) -> str:
    return (
        f"placement {placement}: its scheduler {scheduler} is another system's, so no profile of "
        "kube-scheduler is written for it"
    )


def default_elsewhere(placement: str) -> str:
    return (
        f"placement {placement} is for default-scheduler, which a second scheduler must not serve. Nearest: "
        "give the placement a scheduler name of its own, or set targets.kubernetes.scheduler.as: cluster"
    )


def no_scheduler_name(placement: str) -> str:
    return (
        f"placement {placement} states no scheduler, so it has no profile: add scheduler to it, or make it "
        "that of default-scheduler by targets.kubernetes.scheduler.default with as: cluster"
    )


RESTART = (
    "the cluster's own scheduler reads kubernetes/kube-scheduler.yaml only when it starts: "
    "restart needed after "
    "each change, on every control plane node (kubernetes/README.md says how)"
)
ASSUMED_VERSION = (
    "the policy states no `kubernetes` version, so the second scheduler has the image of the newest release "
    "known: state the cluster's, which must not be older"
)


def unknown_version(version: Version) -> str:
    return (
        f"Kubernetes {version.major}.{version.minor} is none of the releases that policykit knows "
        "the scheduler of"
        f" (1.{min(LAST_PATCH)} to 1.{max(LAST_PATCH)}): weights and configuration are those of the nearest"
    )


def managed_control_plane(provider: str) -> str:
    return (
        f"the control plane of {provider} is managed, and its scheduler takes no configuration: a second "
        "scheduler is written instead of targets.kubernetes.scheduler.as: cluster"
    )
