"""The arithmetic of the weights in words: why they are as written, and what they cannot give."""

from __future__ import annotations

from collections.abc import Sequence

from policykit.model.workload import WorkloadKind
from policykit.targets.volcano import weights
from policykit.targets.volcano.weights import Step

OPENING = "Every part of a node's score is 0 to 100 times its weight. Per 100:"
PACKING = "One card more in use on one of two alike nodes wins, whatever their fill:"
PREFERENCE = "An empty node of a preferred usage wins over any fill of a lesser one:"
ZEROS = (
    "leastrequested, mostrequested and balancedresource are 0: they judge cpu",
    "and memory, and would pull pods away from the node whose cards are in use.",
)
ASKED = "Not in the sums, as pods must ask for it: podaffinity, own preferences."

SPREAD_ONLY = (
    "every workload kind asks for spread, so binpack is left out. leastrequested and balancedresource judge "
    "cpu and memory: cards spread only with them. To spread by cards, give the pods topologySpreadConstraints"
)
OFF = "binpack.weight 0 in the policy switches packing off: cards are placed without regard to what is in use"


def packing(step: Step, binpack: int, rivals: int) -> tuple[str, str]:
    """Comment: the worst case for one card resource."""
    gain = binpack * step.lead / step.scale
    terms = f"({step.weight} - {step.cards} x {step.fill}) / ({step.cards} x {step.weight + step.fill})"
    return (
        f"  {step.resource}, {step.cards} per node:",
        f"  binpack {binpack} x {terms} = {_against(gain, rivals)}",
    )


def preference(weight: int, gap: int, rivals: int) -> str:
    """Comment: the worst case between two usages."""
    return f"  nodeaffinity {weight} x {gap}/100 = {_against(weight * gap / 100, rivals)}"


def _against(gain: float, rivals: int) -> str:
    return f"{gain:.2f} > {rivals}" if gain > rivals else f"{gain:.2f} <= {rivals}, so this is not kept"


def rivals(parts: dict[str, int]) -> str:
    """Comment: what the sums of the others consist of."""
    return f"  where {sum(parts.values())} = {terms(parts)}"


def terms(parts: dict[str, int]) -> str:
    return " + ".join(f"{part} {weight}" for part, weight in parts.items())


def too_light(step: Step) -> str:
    return (
        f"binpack weight {step.weight} of {step.resource} is too low: one card of {step.cards} weighs "
        f"{step.weight}/{step.cards}, and what else pods ask for up to {step.fill}, which can outweigh a "
        f"card in use. Give it at least {step.cards * step.fill + 1}"
    )


def too_heavy(needed: int) -> str:
    return (
        f"packing would need binpack.weight {needed}, more than {weights.LARGEST}, the largest that is "
        "written: other scores may outweigh it. Lower the binpack weights of cpu and memory"
    )


def too_low(wanted: int, needed: int) -> str:
    return (
        f"binpack.weight {wanted} in the policy is less than {needed}, which packing needs to outweigh "
        f"{terms(dict(weights.RIVALS))}: those may place a pod on an emptier node"
    )


def unknown_size(resource: str, assumed: int) -> str:
    return (
        f"how many {resource} a node has is not known for every pool: {assumed} are assumed for the binpack "
        "weights. State allocatable in the policy"
    )


def mixed_sizes(resource: str, sizes: Sequence[int]) -> str:
    small, large = sizes[0], sizes[-1]
    return (
        f"nodes hold {' or '.join(map(str, sizes))} of {resource}, and Volcano compares filled shares: a pod "
        f"that asks for 1 fills an empty node of {small} to 1/{small}, which may be more than it fills a "
        f"node of {large} in use. Packing is certain among nodes of one size only"
    )


def too_close(kind: WorkloadKind, gap: int, needed: int) -> str:
    return (
        f"workload kind {kind.name}: its preferred usages are {gap} of 100 apart after normalising, which "
        f"needs nodeaffinity.weight {needed}, more than {weights.LARGEST}: a fuller node of a less preferred "
        "usage may win. Set the preferences further apart, or lower the binpack weights"
    )


def opposed(kinds: Sequence[WorkloadKind]) -> str:
    return (
        f"placement spread of {', '.join(kind.name for kind in kinds)} cannot be had: one configuration "
        "scores every pod alike, and cards are packed. Nearest: topologySpreadConstraints with DoNotSchedule "
        "in those pods, or another scheduler for them"
    )


def outweighed_taints(pools: Sequence[str]) -> str:
    return (
        f"PreferNoSchedule taints of pool {', '.join(pools)} are outweighed by packing and by preferred "
        "usages. To keep pods away, use NoSchedule"
    )
