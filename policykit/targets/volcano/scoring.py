"""How one Volcano configuration scores nodes for a cluster: the weights, why, and what they cannot do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from policykit.model.cluster import Cluster, Target
from policykit.model.workload import WorkloadKind
from policykit.targets.volcano import fleet, options, reasons, weights
from policykit.targets.volcano.config import Plugin
from policykit.targets.volcano.weights import Step

SCHEDULER_NAME = "volcano"


class Scoring(NamedTuple):
    """The score plugins of a configuration."""

    binpack: int
    """binpack.weight; 0: the plugin is left out."""
    resources: Mapping[str, int]
    """Weights inside binpack, cpu and memory included."""
    parts: Mapping[str, int]
    """Parts of nodeorder with their weights."""
    comments: tuple[str, ...] = ()
    """The inequalities with their numbers."""
    notices: tuple[str, ...] = ()

    @property
    def plugins(self) -> tuple[Plugin, ...]:
        order = Plugin("nodeorder", {}, {f"{part}.weight": weight for part, weight in self.parts.items()})
        return (order, self._binpack_plugin()) if self.binpack else (order,)

    def _binpack_plugin(self) -> Plugin:
        named = [resource for resource in sorted(self.resources) if resource not in ("cpu", "memory")]
        arguments: dict[str, Any] = {
            "binpack.weight": self.binpack,
            "binpack.cpu": self.resources["cpu"],
            "binpack.memory": self.resources["memory"],
        }
        if named:
            arguments["binpack.resources"] = ", ".join(named)
        arguments.update({f"binpack.resources.{resource}": self.resources[resource] for resource in named})
        return Plugin("binpack", {}, arguments)


def scoring(cluster: Cluster, target: Target) -> Scoring:
    """Weights for the cards and workload kinds that this target's scheduler may see.

    Raises PolicykitError for weights in the options that are no whole numbers of 0 or more.
    """
    kinds = served(cluster, target)
    if kinds and all(kind.placement == "spread" for kind in kinds):
        return _spreading(kinds)
    return _packing(cluster, target, kinds)


def served(cluster: Cluster, target: Target) -> list[WorkloadKind]:
    """Kinds whose pods may name this target's scheduler, in the policy's order."""
    names = ("", target.scheduler_name or SCHEDULER_NAME)
    return [kind for kind in cluster.workloads.values() if kind.scheduler in names]


def _spreading(kinds: Sequence[WorkloadKind]) -> Scoring:
    rivals = {**weights.RIVALS, **weights.SPREADING}
    affinity, comments, notices = _preference(kinds, rivals)
    parts = _parts(affinity, weights.SPREADING)
    return Scoring(0, {}, parts, (reasons.OPENING, *comments, reasons.ASKED), (reasons.SPREAD_ONLY, *notices))


def _packing(cluster: Cluster, target: Target, kinds: Sequence[WorkloadKind]) -> Scoring:
    rivals = sum(weights.RIVALS.values())
    stated = options.read(cluster, target)
    steps, resources, notices = _steps(cluster, stated.resources)
    binpack, unpacked = _binpack_weight(steps, stated.weight, rivals)
    affinity, comments, unmet = _preference(kinds, {"binpack": binpack, **weights.RIVALS})
    packed = [line for step in steps if binpack for line in reasons.packing(step, binpack, rivals)]
    if packed:
        packed = [reasons.PACKING, *packed, reasons.rivals(dict(weights.RIVALS))]
    zeros = reasons.ZEROS if binpack else ()
    return Scoring(
        binpack,
        resources,
        _parts(affinity, dict.fromkeys(weights.SPREADING, 0)),
        (reasons.OPENING, *packed, *comments, reasons.ASKED, *zeros),
        (*notices, *unpacked, *unmet, *_outweighed(cluster, kinds, binpack)),
    )


def _parts(affinity: int, spreading: Mapping[str, int]) -> dict[str, int]:
    return {
        "leastrequested": spreading["leastrequested"],
        "mostrequested": 0,
        "balancedresource": spreading["balancedresource"],
        "nodeaffinity": affinity,
        **weights.ASKED,
        **weights.RIVALS,
    }


def _steps(cluster: Cluster, stated: Mapping[str, int]) -> tuple[list[Step], dict[str, int], list[str]]:
    sizes = fleet.cards_per_node(cluster)
    resources = {"cpu": 1, "memory": 1, **{name: stated[name] for name in sorted(stated)}}
    fill = sum(weight for resource, weight in resources.items() if resource not in sizes)
    steps: list[Step] = []
    notices: list[str] = []
    for resource, found in sizes.items():
        known = sorted({size or fleet.ASSUMED_CARDS for size in found})
        if 0 in found:
            notices.append(reasons.unknown_size(resource, fleet.ASSUMED_CARDS))
        if len(known) > 1:
            notices.append(reasons.mixed_sizes(resource, known))
        cards = weights.common_multiple(known)
        weight = resources.setdefault(resource, weights.card_weight(cards, fill))
        steps.append(Step(resource, cards, weight, fill))
    return steps, resources, notices


def _binpack_weight(steps: Sequence[Step], wanted: int | None, rivals: int) -> tuple[int, list[str]]:
    if wanted == 0:
        return 0, [reasons.OFF]
    notices = [reasons.too_light(step) for step in steps if step.lead <= 0]
    needed = max((_needed(step, rivals) for step in steps), default=1)
    if wanted is None:
        if needed > weights.LARGEST:
            notices.append(reasons.too_heavy(needed))
        return min(needed, weights.LARGEST), notices
    if wanted < needed:
        notices.append(reasons.too_low(wanted, needed))
    return wanted, notices


def _needed(step: Step, rivals: int) -> int:
    """With a card too light against cpu and memory, at least packing at equal fill of those."""
    exact = weights.packing_weight(step, rivals)
    return exact if exact is not None else weights.even_packing_weight(step, rivals)


def _preference(
    kinds: Sequence[WorkloadKind], parts: Mapping[str, int]
) -> tuple[int, tuple[str, ...], list[str]]:
    """nodeaffinity.weight, the reason, and a notice for each kind it cannot serve."""
    rivals = sum(parts.values())
    gaps = [(kind, weights.preference_gap(kind)) for kind in kinds if kind.prefer]
    gap = min((gap for _, gap in gaps), default=100)
    weight = min(weights.preference_weight(gap, rivals), weights.LARGEST)
    comments = (
        reasons.PREFERENCE,
        reasons.preference(weight, gap, rivals),
        reasons.rivals({part: value for part, value in parts.items() if value}),
    )
    notices = []
    for kind, own in gaps:
        needed = weights.preference_weight(own, rivals)
        if needed > weights.LARGEST:
            notices.append(reasons.too_close(kind, own, needed))
    return weight, comments, notices


def _outweighed(cluster: Cluster, kinds: Sequence[WorkloadKind], binpack: int) -> list[str]:
    """Wishes of the policy that packing overrules."""
    spread = [kind for kind in kinds if kind.placement == "spread"]
    soft = [pool.name for pool in cluster.pools if any(not taint.hard for taint in pool.taints)]
    notices = [reasons.opposed(spread)] if spread and binpack else []
    return [*notices, reasons.outweighed_taints(soft)] if soft and binpack else notices
