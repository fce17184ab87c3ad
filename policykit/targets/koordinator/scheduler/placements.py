"""The policy's placements as scores of plugins: the profile of each, weights, and what they guarantee."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policykit.kube.scores import MAX_SCORE
from policykit.model.cluster import Cluster, TargetSettings
from policykit.model.release import Version
from policykit.model.workload import BINPACK, SPREAD, Placement, Point, WorkloadKind
from policykit.namedtuple import NamedTuple
from policykit.targets.koordinator import versions
from policykit.targets.koordinator.names import SCHEDULER
from policykit.targets.koordinator.options import Fit, koordinator_options
from policykit.targets.koordinator.scheduler import placements, weights
from policykit.targets.koordinator.scheduler.configuration import Profile
from policykit.targets.koordinator.scheduler.plugins import FIT, FIT_PLUS, RESERVATION, SCARCE
from policykit.targets.koordinator.scheduler.weights import Margin, Rival, is_device
from policykit.targets.pool_capacity import most_cards

TYPES: Mapping[str, str] = {BINPACK: "MostAllocated", SPREAD: "LeastAllocated"}
_DEVICES = ("koordinator.sh/gpu-memory-ratio", "koordinator.sh/rdma", "koordinator.sh/fpga")
"""Resources that DeviceShare scores by default in every release."""
_NO_CARDS = frozenset({"koordinator.sh/rdma", "koordinator.sh/fpga"})
_OWN_DEVICES = "koordinator.sh/"
_OF_NUMA = ("cpu", "memory")
MAX_WEIGHT = 100
"""Largest weight of a resource in NodeResourcesFit, NodeNUMAResource, DeviceShare and a policy."""


class ProfilePlacement(NamedTuple):
    """The placement of one profile."""

    placement: Placement | None
    others: tuple[str, ...] = ()
    """Names of further placements for the same profile, which have no effect."""


def profile_placement(cluster: Cluster, name: str) -> ProfilePlacement:
    """The placement of profile `name`: one that names it, or else that of its workload kinds."""
    own = [placement for placement in cluster.placements.values() if placement.scheduler == name]
    for kind in cluster.workloads.values():
        placement = cluster.placements.get(kind.placement_name)
        if placement and kind.scheduler == name and placement.scheduler in ("", name):
            own.append(placement)
    names = tuple(dict.fromkeys(placement.name for placement in own))
    return ProfilePlacement(own[0] if own else None, names[1:])


def own_profiles(target: TargetSettings, name: str) -> tuple[str, ...]:
    """schedulerNames, other than `name`, of placements that get a profile of their own."""
    return tuple(dict.fromkeys(each for each in target.schedulers if each and each != name))


def fit(placement: Placement, sizes: Mapping[str, int]) -> dict[str, Fit]:
    """How each resource is scored. `sizes`: card resource to how many a node has.

    Cards that the placement does not list follow its strategy. If it lists nothing, cpu and memory are
    spread with a small weight, so that nodes with packed cards do not run out of them.
    """
    own = TYPES[placement.strategy]
    found = {
        resource: Fit(TYPES[each.strategy], each.weight) for resource, each in placement.resources.items()
    }
    beside = [each for resource, each in found.items() if resource not in sizes]
    if not found and sizes:
        beside = [Fit(TYPES[SPREAD], 2), Fit(TYPES[SPREAD], 1)]
    cards = {
        resource: Fit(own, weights.card_weight(number, beside))
        for resource, number in sizes.items()
        if resource not in found
    }
    if placement.resources:
        return {**found, **cards}
    if not cards:
        return {resource: Fit(own, 1) for resource in _OF_NUMA}
    return {**cards, **dict(zip(_OF_NUMA, beside, strict=True))}


def one_type(placement: Placement, wanted: Mapping[str, Fit], sizes: Mapping[str, int]) -> dict[str, Fit]:
    """The part of a fit that NodeResourcesFit can score, which has one type for all resources.

    If the policy lists no resources, that is the cards alone, with equal weights.
    """
    kept = {
        resource: Fit(each.type, min(each.weight, MAX_WEIGHT))
        for resource, each in wanted.items()
        if each.type == TYPES[placement.strategy]
    }
    if placement.resources:
        return kept
    return {resource: Fit(each.type, 1) for resource, each in kept.items() if resource in sizes} or kept


def device_strategy(wanted: Mapping[str, Fit], gpu_memory: bool) -> dict[str, Any] | None:
    """`scoringStrategy` of DeviceShare; None if no device is scored.

    `gpu_memory`: the release counts koordinator.sh/gpu-memory by itself.
    """
    devices = {resource: each for resource, each in wanted.items() if is_device(resource)}
    if not devices:
        return None
    # All devices have one type, that of the device with the largest weight.
    kind = max(devices.values(), key=lambda each: each.weight).type
    names = [*_DEVICES[:1], *(["koordinator.sh/gpu-memory"] if gpu_memory else []), *_DEVICES[1:]]
    names += [resource for resource in devices if resource.startswith(_OWN_DEVICES) and resource not in names]
    resources = [
        {"name": name, "weight": min(devices[name].weight if name in devices else 1, MAX_WEIGHT)}
        for name in names
        if _device_type(name, devices) in ("", kind)
    ]
    return {"type": kind, "resources": resources}


def _device_type(name: str, devices: Mapping[str, Fit]) -> str:
    """Type of a device. Parts of cards follow the card with the largest weight. Empty: unknown."""
    if name in devices:
        return devices[name].type
    cards = [each for device, each in devices.items() if device not in _NO_CARDS]
    if name in _NO_CARDS or not cards:
        return ""
    return max(cards, key=lambda each: each.weight).type


def numa_strategy(wanted: Mapping[str, Fit]) -> dict[str, Any] | None:
    """`scoringStrategy` of NodeNUMAResource for cpu and memory; None if neither is scored."""
    native = {resource: wanted[resource] for resource in _OF_NUMA if resource in wanted}
    if not native:
        return None
    kind = next(iter(native.values())).type
    return {
        "type": kind,
        "resources": [
            {"name": resource, "weight": min(each.weight, MAX_WEIGHT)}
            for resource, each in native.items()
            if each.type == kind
        ],
    }


DEFAULT_NATIVE: Mapping[str, Fit] = {
    "cpu": Fit("LeastAllocated", 2),
    "memory": Fit("LeastAllocated", 1),
}
"""Used if the policy states no weights: cards are packed, cpu and memory are spread a little."""
ASSUMED_OTHERS = 15
"""Number of resources on a node, apart from the scarce one, that an ordinary pod does not request: disk,
huge pages, Koordinator's resources for batch and mid, and its devices."""


class Packing(NamedTuple):
    """The numbers to write, and those they are computed from."""

    fit: Mapping[str, Fit]
    margins: tuple[Margin, ...]
    rivals: tuple[Rival, ...]
    conditional: Mapping[str, int]
    """Scoring plugins left out of the sum, since they score only certain pods, with their weights."""
    weight: int
    """Weight of the plugin at score."""
    affinity: int | None
    """Weight of NodeAffinity at score; None if nothing prefers a usage."""
    plugin: str = FIT_PLUS
    """What scores the fit: NodeResourcesFitPlus, or NodeResourcesFit for a shape and up to 1.5."""
    strategy: str = BINPACK
    shape: tuple[Point, ...] = ()
    avoid: tuple[str, ...] = ()
    """Resources that ScarceResourceAvoidance keeps for pods that request them; empty: it is not used."""
    avoidance: int = 0
    """Its weight at score."""
    left_out: tuple[str, ...] = ()
    """Resources of the placement that the plugin cannot score along with the others."""
    reservation: int | None = None
    """Weight of Reservation at score, if its current one must be raised; None: it stays."""

    @property
    def against_reservation(self) -> int:
        """The most points that all other plugins can give together."""
        own = self.weight + self.avoidance + (self.affinity or 0)
        return sum(rival.points for rival in self.rivals) + MAX_SCORE * own


def packing(
    cluster: Cluster,
    target: TargetSettings,
    profile: Profile,
    name: str,
    version: Version,
    placement: Placement | None = None,
    avoid: tuple[str, ...] = (),
    avoidance: int | None = None,
) -> Packing:
    """The numbers for the profile that serves schedulerName `name`. Raises PolicykitError for bad weights.

    `avoid` and `avoidance`: scarce resources, and the weight that the policy fixes for avoiding them.
    """
    sizes = most_cards(cluster)
    plugin = FIT_PLUS if version >= versions.FIT_PLUS and not (placement and placement.shape) else FIT
    whole = chosen_fit(cluster, target, name, placement, sizes) if plugin == FIT_PLUS or placement else {}
    fit = whole if plugin == FIT_PLUS or not placement else placements.one_type(placement, whole, sizes)
    scoring = profile.score_weights(version)
    against = weights.rivals(
        scoring,
        [resource for resource in sizes if resource in fit],
        soft_taints=_soft_taints(cluster),
        spreads=_spreads_by_default(profile),
        own=(plugin, SCARCE) if avoid else (plugin,),
    )
    shape = placement.shape if placement else ()
    margins = _margins(sizes, fit, shape)
    weight = weights.packing_weight(margins, against) if fit else 0
    if avoidance is None:
        avoidance = weights.avoidance_weight(against, weight, ASSUMED_OTHERS)
    avoiding = [Rival(SCARCE, avoidance, MAX_SCORE)] if avoid else []
    above = _preference(cluster, name, [*against, *avoiding], weight) if fit or avoid else None
    found = Packing(
        fit,
        margins,
        against,
        {plugin: w for plugin, w in scoring.items() if plugin in weights.CONDITIONAL},
        weight,
        max(above, scoring.get("NodeAffinity", 0)) if above else None,
        plugin,
        placement.strategy if placement else BINPACK,
        shape,
        avoid,
        avoidance if avoid else 0,
        tuple(resource for resource in whole if resource not in fit),
    )
    return _reserving(found) if placement or avoid else found


def _preference(cluster: Cluster, name: str, against: list[Rival], weight: int) -> int | None:
    """Weight with which NodeAffinity outweighs all others; None if nothing prefers a usage."""
    kinds = preferring(cluster, name)
    if not kinds:
        return None
    gap = min(map(weights.preference_gap, kinds), default=MAX_SCORE)
    return weights.preference_weight(gap, against, weight)


def _reserving(packing: Packing) -> Packing:
    """The packing with the weight of Reservation raised above all others together."""
    has = packing.conditional.get(RESERVATION)
    if has is None or has * MAX_SCORE > packing.against_reservation:
        return packing
    enough = packing.against_reservation // MAX_SCORE + 1
    return packing._replace(conditional={**packing.conditional, RESERVATION: enough}, reservation=enough)


def preferring(cluster: Cluster, name: str) -> tuple[WorkloadKind, ...]:
    """Workload kinds with this schedulerName that prefer a usage."""
    return tuple(
        kind
        for kind in cluster.workloads.values()
        if kind.scheduler == name and any(weight > 0 for weight in kind.prefer.values())
    )


def chosen_fit(
    cluster: Cluster, target: TargetSettings, name: str, placement: Placement | None, sizes: Mapping[str, int]
) -> Mapping[str, Fit]:
    """The target's `fit` option for its own profile, or else the placement, or else the default."""
    stated = koordinator_options(target).fit if name == (target.scheduler_name or SCHEDULER) else {}
    if stated or placement is None:
        return stated or default_fit(sizes)
    return placements.fit(placement, sizes)


def default_fit(sizes: Mapping[str, int]) -> dict[str, Fit]:
    """Every card packed, with enough weight to count against cpu and memory; empty without cards."""
    native = DEFAULT_NATIVE.values()
    cards = {
        resource: Fit("MostAllocated", weights.card_weight(cards, native))
        for resource, cards in sizes.items()
    }
    return {**cards, **DEFAULT_NATIVE} if cards else {}


def _margins(
    sizes: Mapping[str, int], fit: Mapping[str, Fit], shape: tuple[Point, ...]
) -> tuple[Margin, ...]:
    others = [resource for resource in fit if resource not in sizes]
    cards = [resource for resource in sizes if resource in fit]
    if shape:
        return tuple(weights.shape_margin(card, sizes[card], fit, others, shape) for card in cards)
    return tuple(weights.margin(card, sizes[card], fit, others) for card in cards)


def _soft_taints(cluster: Cluster) -> bool:
    taints = [taint for pool in cluster.pools for taint in pool.taints]
    if cluster.control_plane_taint:
        taints.append(cluster.control_plane_taint)
    return any(not taint.hard for taint in taints)


def _spreads_by_default(profile: Profile) -> bool:
    """PodTopologySpread's system default scores every pod of a Service, ReplicaSet or StatefulSet."""
    args = profile.arguments("PodTopologySpread")
    return args.get("defaultingType", "System") != "List" or bool(args.get("defaultConstraints"))
