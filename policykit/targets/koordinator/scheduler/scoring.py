"""The steps that make a profile score by its placement and its numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from policykit.catalogue.koordinator import fields
from policykit.manifests.patch import Patch
from policykit.model.placement import Placement
from policykit.targets.koordinator.options import Fit, KoordinatorOptions
from policykit.targets.koordinator.scheduler import placements
from policykit.targets.koordinator.scheduler.configuration import Profile
from policykit.targets.koordinator.scheduler.merge import Step, disable, enable, prepare, set_args
from policykit.targets.koordinator.scheduler.packing import Packing
from policykit.targets.koordinator.scheduler.plugins import (
    BALANCED,
    DEVICES,
    FIT,
    FIT_PLUS,
    NUMA,
    RESERVATION,
    SCARCE,
)
from policykit.targets.koordinator.scheduler.weights import is_device
from policykit.targets.release import Version


def disable_others(placement: Placement, version: Version) -> Iterator[Step]:
    """Plugins that would score the same resources differently stop scoring; they still filter."""
    if version >= fields.FIELDS[FIT_PLUS]["resources"] and not placement.shape:
        yield disable(FIT, "score")
    yield disable(BALANCED, "score")


def align_others(
    wanted: Mapping[str, Fit], options: KoordinatorOptions, version: Version, api_version: str
) -> Iterator[Step]:
    """Makes DeviceShare and NodeNUMAResource score the same way as the placement."""
    memory = fields.FIELDS[DEVICES]["gpuSharedResourceTemplatesConfig"] <= version
    devices = placements.device_strategy(wanted, memory)
    if devices and "scoringStrategy" not in options.fields(DEVICES):
        mixed = _mixed(each for name, each in wanted.items() if is_device(name))
        yield _aligned(DEVICES, {"scoringStrategy": devices}, api_version, mixed)
    native = placements.numa_strategy(wanted)
    if native and "scoringStrategy" not in options.fields(NUMA):
        also = {} if "numaScoringStrategy" in options.fields(NUMA) else {"numaScoringStrategy": native}
        mixed = _mixed(wanted[name] for name in ("cpu", "memory") if name in wanted)
        yield _aligned(NUMA, {"scoringStrategy": native, **also}, api_version, mixed)


def opposing_options(wanted: Mapping[str, Fit], options: KoordinatorOptions) -> Iterator[str]:
    """Plugins whose scoringStrategy in the policy contradicts the placement."""
    for plugin, strategy in (
        (DEVICES, placements.device_strategy(wanted, False)),
        (NUMA, placements.numa_strategy(wanted)),
    ):
        stated = options.fields(plugin).get("scoringStrategy")
        if strategy and stated and stated.get("type") != strategy["type"]:
            yield plugin


def write_numbers(packing: Packing, api_version: str) -> Iterator[Step]:
    """The numbers themselves: for packing, for avoiding, and for the preference above both."""
    if packing.fit:
        yield set_args(packing.plugin, _fit_args(packing), api_version)
        if packing.plugin == FIT_PLUS:
            yield enable(FIT_PLUS, "preScore")
        else:
            yield prepare(FIT)
        yield enable(packing.plugin, "score", packing.weight)
    if packing.avoid:
        yield set_args(SCARCE, {"resources": list(packing.avoid)}, api_version)
        yield enable(SCARCE, "preScore")
        yield enable(SCARCE, "score", packing.avoidance)
    if packing.reservation is not None:
        yield enable(RESERVATION, "score", packing.reservation)
    if packing.affinity is not None:
        yield prepare("NodeAffinity")
        yield enable("NodeAffinity", "score", packing.affinity)


def _fit_args(packing: Packing) -> dict[str, Any]:
    if packing.plugin == FIT_PLUS:
        # A map by resource name, where NodeResourcesFit has a list.
        return {"resources": {name: {"type": f.type, "weight": f.weight} for name, f in packing.fit.items()}}
    strategy: dict[str, Any] = {
        "type": placements.TYPES[packing.strategy],
        "resources": [{"name": name, "weight": each.weight} for name, each in packing.fit.items()],
    }
    if packing.shape:
        shape = [{"utilization": point.utilization, "score": point.score} for point in packing.shape]
        strategy["type"] = "RequestedToCapacityRatio"
        strategy["requestedToCapacityRatio"] = {"shape": shape}
    return {"scoringStrategy": strategy}


def _mixed(wanted: Iterable[Fit]) -> bool:
    """Whether some are packed and some spread: the strategy then leaves out those it would spread."""
    return len({each.type for each in wanted}) > 1


def _aligned(plugin: str, wanted: Mapping[str, Any], api_version: str, mixed: bool) -> Step:
    """Sets args, unless the plugin does not score, or spreads everything by default anyway."""

    def step(profile: Profile) -> Iterable[Patch]:
        given = profile.arguments(plugin)
        spread = all(strategy["type"] == "LeastAllocated" for strategy in wanted.values())
        if not profile.point("score").plugin(plugin) and not given:
            return ()
        if spread and not mixed and not any(name in given for name in wanted):
            return ()
        return set_args(plugin, wanted, api_version)(profile)

    return step
