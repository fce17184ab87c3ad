"""Comments and notices of the configuration: the arithmetic of the weights, and its limits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from policykit.model.release import Version
from policykit.model.workload import WorkloadKind
from policykit.targets.volcano import versions
from policykit.targets.volcano.scheduler import weights
from policykit.targets.volcano.scheduler.weights import Step

OPENING = "Every part of a node's score is 0 to 100 times its weight. Per 100:"
PACKING = "Of two equal nodes the one with one more card in use wins, however full:"
SPREADING = "Of two equal nodes the one with one less card in use wins, however full:"
SCARCE = "A node without scarce resources wins for pods that request none:"
NEAR = "A node one level closer to the rest of its job wins over all of these:"
PREFERENCE = "An empty node of a preferred usage wins over a full one of another:"
AS_WRITTEN = (
    "  (before 1.15.1 Volcano adds the weights of preferences as they are written,",
    "  so these are their differences)",
)
_ZEROS = (
    "leastrequested, mostrequested and balancedresource are 0: they score cpu",
    "and memory, and would pull pods away from the node whose cards are in use.",
)
_FIT_ZEROS = (
    "leastrequested, mostrequested and balancedresource are 0: instead,",
    "resource-strategy-fit packs or spreads each resource.",
)
ON_REQUEST = "Not in the sums, as pods must request it: podaffinity, own preferences."

SPREAD_ONLY = (
    "every workload kind asks for spread, so binpack is left out. leastrequested and balancedresource score "
    "cpu and memory: cards spread only with them. To spread by cards, give the pods topologySpreadConstraints"
)
OFF = "binpack.weight 0 in the policy disables packing: cards are allocated regardless of those in use"


def zeros(plugin: str) -> tuple[str, ...]:
    """Comment: why the parts of nodeorder that score utilization are off."""
    return _ZEROS if plugin == "binpack" else _FIT_ZEROS


def packing(step: Step, weight: int, rivals: int, plugin: str = "binpack") -> tuple[str, str]:
    """Comment: the worst case for one card resource."""
    gain = weight * step.lead / step.scale
    terms = f"({step.weight} - {step.cards} x {step.fill}) / ({step.cards} x {step.weight + step.fill})"
    return (
        f"  {step.resource}, {step.cards} per node:",
        f"  {plugin} {weight} x {terms} = {_against(gain, rivals)}",
    )


def scarce(resources: Sequence[str], weight: int, rivals: Mapping[str, int]) -> tuple[str, ...]:
    """Comment: the worst case between a node without and one with a scarce resource."""
    gain = weight / len(resources)
    against = _against(gain, sum(rivals.values()))
    return (SCARCE, f"  sra {weight} x 1/{len(resources)} = {against}", _rest(rivals))


def near(levels: int, weight: int, rivals: Mapping[str, int]) -> tuple[str, ...]:
    """Comment: the worst case between nodes one level apart."""
    against = _against(weight / levels, sum(rivals.values()))
    return (NEAR, f"  network-topology-aware {weight} x 1/{levels} = {against}", _rest(rivals))


def unscored_level(kinds: Sequence[WorkloadKind], level: str, version: Version) -> str:
    return (
        f"workload kind {', '.join(kind.name for kind in kinds)} prefers to stay within one {level}, the "
        f"widest level, which Volcano {version} does not score: nodes of one {level} are no better than "
        f"others. Nearest: upgrade to {versions.WIDEST_SCORED}, or add a wider level"
    )


def _rest(parts: Mapping[str, int]) -> str:
    return rivals({part: weight for part, weight in parts.items() if weight})


def preference(weight: int, gap: int, rivals: int) -> str:
    """Comment: the worst case between two usages."""
    return f"  nodeaffinity {weight} x {gap}/100 = {_against(weight * gap / 100, rivals)}"


def _against(gain: float, rivals: int) -> str:
    return f"{gain:.2f} > {rivals}" if gain > rivals else f"{gain:.2f} <= {rivals}, so this does not hold"


def rivals(parts: Mapping[str, int]) -> str:
    """Comment: the terms of the sum of the others."""
    return f"  where {sum(parts.values())} = {terms(parts)}"


def terms(parts: Mapping[str, int]) -> str:
    return " + ".join(f"{part} {weight}" for part, weight in parts.items())


def too_light(step: Step) -> str:
    return (
        f"binpack weight {step.weight} of {step.resource} is too low: one card of {step.cards} weighs "
        f"{step.weight}/{step.cards}, and other requests up to {step.fill}, which can outweigh a card in "
        f"use. Set at least {step.cards * step.fill + 1}"
    )


def too_heavy(needed: int) -> str:
    return (
        f"packing would need binpack.weight {needed}, but the largest weight written is {weights.LARGEST}: "
        "other scores may outweigh it. Lower the binpack weights of cpu and memory"
    )


def too_low(wanted: int, needed: int, rivals: Mapping[str, int] = weights.RIVALS) -> str:
    return (
        f"binpack.weight {wanted} in the policy is below {needed}, which packing needs to outweigh "
        f"{terms(rivals)}: those may place a pod on an emptier node"
    )


def unknown_size(resource: str, assumed: int) -> str:
    return (
        f"the number of {resource} per node is not known for every pool: the binpack weights assume "
        f"{assumed}. Set allocatable in the policy"
    )


def mixed_sizes(resource: str, sizes: Sequence[int]) -> str:
    small, large = sizes[0], sizes[-1]
    return (
        f"nodes have {' or '.join(map(str, sizes))} of {resource}, and Volcano compares shares in use: a "
        f"pod that requests 1 fills an empty node of {small} to 1/{small}, which may be more than it fills "
        f"a node of {large} in use. Packing is certain only among nodes of one size"
    )


def too_close(kind: WorkloadKind, gap: int, needed: int, *, normalised: bool = True) -> str:
    return (
        f"workload kind {kind.name}: its preferred usages are {gap} of 100 apart"
        f"{' after normalizing' if normalised else ''}, which "
        f"needs nodeaffinity.weight {needed}, more than {weights.LARGEST}: a fuller node of a less preferred "
        "usage may win. Set the preferences further apart, or lower the binpack weights"
    )


def spread_ignored(kinds: Sequence[WorkloadKind]) -> str:
    return (
        f"placement spread of {', '.join(kind.name for kind in kinds)} has no effect: one configuration "
        "scores every pod the same way, and it packs cards. Nearest: topologySpreadConstraints with "
        "DoNotSchedule in those pods, or another scheduler for them"
    )


def outweighed_taints(pools: Sequence[str]) -> str:
    return (
        f"packing and preferred usages outweigh the PreferNoSchedule taints of pool {', '.join(pools)}. To "
        "keep pods away, use NoSchedule"
    )


def outweighed_spread(kinds: Sequence[WorkloadKind]) -> str:
    return (
        f"across of {', '.join(kind.name for kind in kinds)} is a preference, and packing outweighs it. If "
        "the pods must be apart, set mode: hard"
    )


def other_placement(kinds: Sequence[str], chosen: str) -> str:
    return (
        f"workload kind {', '.join(kinds)} has a placement other than {chosen}: one configuration scores "
        f"every pod the same way, so the weights of {chosen} apply to all"
    )


def spread_by_card(version: Version) -> str:
    return (
        f"Volcano {version} cannot spread by the resources of a placement (plugin resource-strategy-fit, "
        "added in 1.13.0): their weights are not written"
    )


def not_spread(resources: Sequence[str], version: Version) -> str:
    return (
        f"Volcano {version} cannot pack some resources and spread others (plugin resource-strategy-fit, "
        f"added in 1.13.0): {', '.join(resources)} should be spread, and has no weight in packing instead"
    )


def not_avoided(resources: Sequence[str], version: Version) -> str:
    return (
        f"Volcano {version} cannot keep pods off nodes with {', '.join(resources)} (plugin "
        "resource-strategy-fit, added in 1.13.0). Nearest: taints on those nodes"
    )


def unshaped(placements: Sequence[str]) -> str:
    return (
        f"shape of placement {', '.join(placements)} is not written: Volcano scores a node's use linearly. "
        "Nearest: strategy and weights"
    )
