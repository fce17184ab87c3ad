"""Notices about what the computed weights do not guarantee, and what to change."""

from __future__ import annotations

from collections.abc import Iterator

from policykit.kube.scores import MAX_SCORE
from policykit.model.cluster import Cluster
from policykit.model.release import Version
from policykit.model.workload import BINPACK, SPREAD
from policykit.targets.koordinator import versions
from policykit.targets.koordinator.options import KoordinatorOptions
from policykit.targets.koordinator.scheduler import weights
from policykit.targets.koordinator.scheduler.placements import Packing
from policykit.targets.koordinator.scheduler.plugins import COSCHEDULING, DEVICES, FIT, FIT_PLUS, RESERVATION
from policykit.targets.koordinator.scheduler.profiles import Plan, ProfilePlan
from policykit.targets.koordinator.scheduler.weights import Margin
from policykit.targets.pool_capacity import most_cards

_NATIVE = frozenset({"cpu", "memory", "ephemeral-storage"})


def _no_fit_plus(version: Version) -> str:
    return (
        f"Koordinator {version} has no NodeResourcesFitPlus (added in {versions.FIT_PLUS}), so it cannot "
        "pack cards while spreading cpu and memory: nothing is written. The closest alternative: in the "
        "scheduler's profile, set scoringStrategy of NodeResourcesFit to type MostAllocated with the "
        "cards' resources, and its weight at score above the sum of all others"
    )


def unchanged_notice(version: Version) -> str:
    """The notice for a policy that does not change the configuration."""
    if version < versions.FIT_PLUS:
        return _no_fit_plus(version)
    return "no pool offers a card, so there is nothing to pack: the chart's configuration stays as it is"


def plan_notices(cluster: Cluster, version: Version, plan: Plan) -> Iterator[str]:
    """Notices for each profile, with its name unless it is the target's own."""
    own = plan.profiles[0].name
    for each in plan.profiles:
        found = [
            *_placement(each, version),
            *_other_scheduler(cluster, each.name),
            *_numbers(cluster, each.name, each.packing),
        ]
        if each.placement is None and not each.packing.fit and version < versions.FIT_PLUS:
            found.append(_no_fit_plus(version))
        yield from (text if each.name == own else f"profile {each.name}: {text}" for text in found)
    if version == versions.CRASHING_FIT_PLUS and any(_uses_fit_plus(each) for each in plan.profiles):
        yield (
            f"koord-scheduler {version} panics in NodeResourcesFitPlus at any pod that requests "
            "ephemeral-storage: install 1.6.1, which does not"
        )
    if len(plan.profiles) > 1:
        yield (
            f"profiles {', '.join(each.name for each in plan.profiles)} each track devices, CPUs and quotas "
            "separately, and see each other's pods only once they are bound: do not let them share nodes "
            "with shared cards or pinned CPUs, or a queue that must never exceed its limit"
        )


def replaced_values(cluster: Cluster, stated: KoordinatorOptions, version: Version) -> Iterator[str]:
    """The chart's values that no longer reach the configuration, unless the policy states the same."""
    found = []
    unset = "enablePreemption" not in stated.fields(COSCHEDULING)
    if version >= versions.JOB_PREEMPTION_VALUE and unset and cluster.preemption.within_queue is not False:
        found.append(("enableJobPreemption", "coscheduling.enablePreemption"))
    if version >= versions.MODELS_VALUE and "gpuShareUnsupportedModels" not in stated.fields(DEVICES):
        found.append(("deviceShare.gpuShareUnsupportedModels", "deviceShare.gpuShareUnsupportedModels"))
    if found and not stated.config:
        values = " and ".join(f"scheduler.{value}" for value, _ in found)
        options = " and ".join(f"targets.koordinator.{option}" for _, option in found)
        yield (
            f"the configuration has the chart's defaults of {values}, whatever your values of the chart say: "
            f"if you set them, set {options} too"
        )


def _uses_fit_plus(profile: ProfilePlan) -> bool:
    return bool(profile.packing.fit) and profile.packing.plugin == FIT_PLUS


def _numbers(cluster: Cluster, name: str, packing: Packing) -> Iterator[str]:
    """`name`: the schedulerName of the profile."""
    yield from _unoffered(cluster, packing)
    for margin in packing.margins:
        yield from _undecided(margin, packing)
    yield from _outweighed(packing)
    result = "packed" if packing.strategy == BINPACK else "spread"
    requested = {BINPACK: "asks to be packed", SPREAD: "asks to be spread"}
    for each in cluster.workloads.values():
        differs = each.placement in requested and each.placement != packing.strategy
        if each.scheduler == name and differs and packing.margins:
            yield (
                f"workload kind {each.name} {requested[each.placement]}, but every pod of schedulerName "
                f"{name} is {result}: a profile has only one set of weights. Give the kind "
                "topologySpreadConstraints or another scheduler"
            )


def _placement(each: ProfilePlan, version: Version) -> Iterator[str]:
    placement, packing = each.placement, each.packing
    if placement is None:
        return
    if each.others:
        yield (
            f"placements {', '.join((placement.name, *each.others))} have the same schedulerName, "
            f"{each.name}, but a profile has only one set of weights: {placement.name} is used. Give the "
            "others a scheduler of their own"
        )
    for plugin in each.opposing:
        yield (
            f"the scoringStrategy that the policy sets for {plugin} contradicts placement "
            f"{placement.name}: remove it, or use the other type"
        )
    if packing.plugin == FIT:
        why = "a shape" if packing.shape else f"Koordinator {version}, which has no NodeResourcesFitPlus"
        left = f": {', '.join(packing.left_out)} left out" if packing.left_out else ""
        yield (
            f"placement {placement.name} uses NodeResourcesFit because of {why}: all its resources have "
            f"the same type{left}"
        )
    if placement.avoid and version < versions.FIT_PLUS:
        yield (
            f"Koordinator {version} has no ScarceResourceAvoidance (added in {versions.FIT_PLUS}), so "
            f"nothing keeps pods off {', '.join(placement.avoid)}. The closest alternative is a taint on "
            "its nodes, PreferNoSchedule for a preference"
        )


def _other_scheduler(cluster: Cluster, name: str) -> Iterator[str]:
    """About workload kinds of this profile whose placement has another scheduler, and so no effect."""
    for kind in cluster.workloads.values():
        placement = cluster.placements.get(kind.placement_name)
        if kind.scheduler == name and placement and placement.scheduler not in ("", name):
            yield (
                f"workload kind {kind.name} has scheduler {name}, but its placement {placement.name} has "
                f"scheduler {placement.scheduler}, so the placement has no effect: remove one of the two "
                "schedulers"
            )


def _unoffered(cluster: Cluster, packing: Packing) -> Iterator[str]:
    offered = {resource for pool in cluster.pools for shape in pool.shapes for resource in shape.allocatable}
    offered.update(most_cards(cluster), _NATIVE)
    for resource in packing.fit:
        if resource not in offered:
            yield f"fit has {resource}, which no pool offers: it has no effect"


def _undecided(margin: Margin, packing: Packing) -> Iterator[str]:
    """About cards for which a difference of one may not decide."""
    if margin.step == 1 and margin.points:
        return
    cards = {each.resource for each in packing.margins}
    rest = {resource: fit for resource, fit in packing.fit.items() if resource not in cards}
    listed = ", ".join(f"{resource} {fit.weight}" for resource, fit in rest.items())
    way = "more" if packing.fit[margin.resource].type == "MostAllocated" else "fewer"
    sure = f"only with at least {margin.step} {way} in use" if margin.points else "with no difference in use"
    if packing.shape:
        yield (
            f"{margin.resource}: with this shape and {margin.cards} on a node, "
            f"{_winner(margin, packing)} is sure to win {sure}"
        )
        return
    message = (
        f"{margin.resource}: with weight {packing.fit[margin.resource].weight} against "
        f"{listed or 'nothing'}, and {margin.cards} on a node, {_winner(margin, packing)} is sure to win "
        f"{sure}, since the use of {' and '.join(rest) or 'nothing'} may count against it"
    )
    if weights.decides_singly(margin.cards):
        enough = weights.lightest(MAX_SCORE // margin.cards, rest.values(), 1)
        yield f"{message}. With weight {enough} or more a single one decides"
    else:
        yield f"{message}; a single one moves its score by less than two points"


def _winner(margin: Margin, packing: Packing) -> str:
    return f"the {'fuller' if packing.fit[margin.resource].type == 'MostAllocated' else 'emptier'} node"


def _outweighed(packing: Packing) -> Iterator[str]:
    reservation = packing.conditional.get(RESERVATION)
    against = packing.against_reservation
    if reservation is not None and reservation * MAX_SCORE <= against:
        yield (
            f"Reservation weighs {reservation} at score, not more than all other plugins together ({against} "
            f"points): raise it above {against // MAX_SCORE}, or pods may not get the node reserved for them"
        )
