"""The policy's placements as scores of koord-scheduler's plugins, and the profile of each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policykit.model.cluster import Cluster, TargetSettings
from policykit.model.placement import BINPACK, SPREAD, Placement
from policykit.namedtuple import NamedTuple
from policykit.targets.koordinator.options import Fit
from policykit.targets.koordinator.scheduler import weights
from policykit.targets.koordinator.scheduler.weights import is_device

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
