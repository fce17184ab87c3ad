"""Placements of the policy as koord-scheduler's plugins take them: which profile has which, and how."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from policykit.model.cluster import Cluster, Target
from policykit.model.placement import BINPACK, SPREAD, Placement
from policykit.targets.koordinator.scheduler import weights
from policykit.targets.koordinator.scheduler.scores import Fit

SCHEDULERS = "schedulers"
"""Option of the target: schedulerNames of placements whose profiles are koord-scheduler's."""
TYPES: Mapping[str, str] = {BINPACK: "MostAllocated", SPREAD: "LeastAllocated"}
_DEVICES = ("koordinator.sh/gpu-memory-ratio", "koordinator.sh/rdma", "koordinator.sh/fpga")
"""What DeviceShare scores by itself in every release."""
_NO_CARDS = frozenset({"koordinator.sh/rdma", "koordinator.sh/fpga"})
_OWN_DEVICES = "koordinator.sh/"
_OF_NUMA = ("cpu", "memory")
HEAVIEST = 100
"""Largest weight of a resource that NodeResourcesFit, NodeNUMAResource, DeviceShare and a policy take."""


class Governed(NamedTuple):
    """The placement of one profile."""

    placement: Placement | None
    others: tuple[str, ...] = ()
    """Names of placements that are meant for the same profile, and have no effect."""


def governed(cluster: Cluster, name: str) -> Governed:
    """What the profile of schedulerName `name` places by: a placement that names it, else its kinds'."""
    own = [placement for placement in cluster.placements.values() if placement.scheduler == name]
    for kind in cluster.workloads.values():
        placement = cluster.placements.get(kind.placement_name)
        if placement and kind.scheduler == name and placement.scheduler in ("", name):
            own.append(placement)
    names = tuple(dict.fromkeys(placement.name for placement in own))
    return Governed(own[0] if own else None, names[1:])


def own_profiles(target: Target, name: str) -> tuple[str, ...]:
    """schedulerNames of placements that get a profile beside the one of `name`, as the target lists them."""
    stated = target.options.get(SCHEDULERS)
    return tuple(dict.fromkeys(each for each in stated or () if each and each != name))


def fit(placement: Placement, sizes: Mapping[str, int]) -> dict[str, Fit]:
    """Resources to how they are scored. `sizes`: card resource to how many a node has.

    Cards that the placement does not list follow its strategy. Without a list cpu and memory
    stand beside the cards with a small weight, spread, so that packing cards does not crowd them.
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
    """What of a fit NodeResourcesFit can score: it has one type for all its resources.

    Where the policy lists no resources, that is the cards alone, alike.
    """
    kept = {
        resource: Fit(each.type, min(each.weight, HEAVIEST))
        for resource, each in wanted.items()
        if each.type == TYPES[placement.strategy]
    }
    if placement.resources:
        return kept
    return {resource: Fit(each.type, 1) for resource, each in kept.items() if resource in sizes} or kept


def device_strategy(wanted: Mapping[str, Fit], gpu_memory: bool) -> dict[str, Any] | None:
    """`scoringStrategy` of DeviceShare; None where no device is scored.

    `gpu_memory`: the release counts koordinator.sh/gpu-memory by itself.
    """
    devices = {resource: each for resource, each in wanted.items() if is_device(resource)}
    if not devices:
        return None
    # One type for all: where the policy has both, the heaviest device decides.
    kind = max(devices.values(), key=lambda each: each.weight).type
    names = [*_DEVICES[:1], *(["koordinator.sh/gpu-memory"] if gpu_memory else []), *_DEVICES[1:]]
    names += [resource for resource in devices if resource.startswith(_OWN_DEVICES) and resource not in names]
    resources = [
        {"name": name, "weight": min(devices[name].weight if name in devices else 1, HEAVIEST)}
        for name in names
        if _device_type(name, devices) in ("", kind)
    ]
    return {"type": kind, "resources": resources}


def _device_type(name: str, devices: Mapping[str, Fit]) -> str:
    """How a device is to be scored; those of cards as the heaviest card is. Empty: nothing says."""
    if name in devices:
        return devices[name].type
    cards = [each for device, each in devices.items() if device not in _NO_CARDS]
    if name in _NO_CARDS or not cards:
        return ""
    return max(cards, key=lambda each: each.weight).type


def numa_strategy(wanted: Mapping[str, Fit]) -> dict[str, Any] | None:
    """`scoringStrategy` of NodeNUMAResource, the same way as cpu; None where neither is scored."""
    native = {resource: wanted[resource] for resource in _OF_NUMA if resource in wanted}
    if not native:
        return None
    kind = next(iter(native.values())).type
    return {
        "type": kind,
        "resources": [
            {"name": resource, "weight": min(each.weight, HEAVIEST)}
            for resource, each in native.items()
            if each.type == kind
        ],
    }


def is_device(resource: str) -> bool:
    """Whether DeviceShare allocates it."""
    return resource in weights.CARD_RESOURCES or resource.startswith(_OWN_DEVICES)
