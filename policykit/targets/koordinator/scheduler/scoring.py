"""The steps that make a profile score as its numbers say."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from policykit.catalogue.koordinator import fields
from policykit.manifests.patch import APPEND, Patch
from policykit.model.placement import Placement
from policykit.targets.koordinator.scheduler import config, placing
from policykit.targets.koordinator.scheduler.config import BALANCED, FIRST, FIT, FIT_PLUS, SCARCE
from policykit.targets.koordinator.scheduler.merge import Step, disabling, enabling, setting
from policykit.targets.koordinator.scheduler.options import Options
from policykit.targets.koordinator.scheduler.packing import Packing
from policykit.targets.koordinator.scheduler.scores import Fit
from policykit.targets.release import Version

_DEVICES, _NUMA = "DeviceShare", "NodeNUMAResource"


def clearing(placement: Placement, version: Version) -> Iterator[Step]:
    """What would score the same resources another way does not score; its filter stays."""
    if version >= fields.FIELDS[FIT_PLUS]["resources"] and not placement.shape:
        yield disabling(FIT, "score")
    yield disabling(BALANCED, "score")


def beside(
    placement: Placement, wanted: Mapping[str, Fit], options: Options, version: Version, api_version: str
) -> Iterator[Step]:
    """DeviceShare and NodeNUMAResource scoring the same way as the placement."""
    memory = fields.FIELDS[_DEVICES]["gpuSharedResourceTemplatesConfig"] <= version
    devices = placing.device_strategy(wanted, memory)
    if devices and "scoringStrategy" not in options.fields(_DEVICES):
        mixed = _mixed(each for name, each in wanted.items() if placing.is_device(name))
        yield from _turned(_DEVICES, {"scoringStrategy": devices}, api_version, mixed)
    native = placing.numa_strategy(wanted)
    if native and "scoringStrategy" not in options.fields(_NUMA):
        also = {} if "numaScoringStrategy" in options.fields(_NUMA) else {"numaScoringStrategy": native}
        mixed = _mixed(wanted[name] for name in ("cpu", "memory") if name in wanted)
        yield from _turned(_NUMA, {"scoringStrategy": native, **also}, api_version, mixed)


def opposed(wanted: Mapping[str, Fit], options: Options) -> Iterator[str]:
    """Plugins whose stated scoringStrategy goes against the placement's."""
    for plugin, strategy in (
        (_DEVICES, placing.device_strategy(wanted, False)),
        (_NUMA, placing.numa_strategy(wanted)),
    ):
        stated = options.fields(plugin).get("scoringStrategy")
        if strategy and stated and stated.get("type") != strategy["type"]:
            yield plugin


def steps(packing: Packing, api_version: str) -> Iterator[Step]:
    """The numbers themselves: what packs, what avoids, and the preference above both."""
    if packing.fit:
        yield setting(packing.plugin, _fit_args(packing), api_version)
        if packing.plugin == FIT_PLUS:
            yield enabling(FIT_PLUS, "preScore")
        else:
            yield _prepared(FIT)
        yield enabling(packing.plugin, "score", packing.weight)
    if packing.avoid:
        yield setting(SCARCE, {"resources": list(packing.avoid)}, api_version)
        yield enabling(SCARCE, "preScore")
        yield enabling(SCARCE, "score", packing.avoidance)
    if packing.reservation is not None:
        yield enabling(FIRST, "score", packing.reservation)
    if packing.affinity is not None:
        yield _prepared("NodeAffinity")
        yield enabling("NodeAffinity", "score", packing.affinity)


def _fit_args(packing: Packing) -> dict[str, Any]:
    if packing.plugin == FIT_PLUS:
        # A map by resource name, where NodeResourcesFit has a list.
        return {"resources": {name: {"type": f.type, "weight": f.weight} for name, f in packing.fit.items()}}
    strategy: dict[str, Any] = {
        "type": placing.TYPES[packing.strategy],
        "resources": [{"name": name, "weight": each.weight} for name, each in packing.fit.items()],
    }
    if packing.shape:
        shape = [{"utilization": point.utilization, "score": point.score} for point in packing.shape]
        strategy["type"] = "RequestedToCapacityRatio"
        strategy["requestedToCapacityRatio"] = {"shape": shape}
    return {"scoringStrategy": strategy}


def _mixed(wanted: Iterable[Fit]) -> bool:
    """Whether some are packed and some spread: the strategy then leaves out what the plugin would spread."""
    return len({each.type for each in wanted}) > 1


def _turned(plugin: str, wanted: Mapping[str, Any], api_version: str, mixed: bool) -> Iterator[Step]:
    """Args set, unless the plugin does not score, or spreads everything by itself and is left so."""

    def step(profile: Mapping[str, Any]) -> Iterator[Patch]:
        given = config.arguments(profile, plugin)
        spread = all(strategy["type"] == "LeastAllocated" for strategy in wanted.values())
        if plugin not in config.point(profile, "score").enabled and not given:
            return
        if spread and not mixed and not any(name in given for name in wanted):
            return
        yield from setting(plugin, wanted, api_version)(profile)

    yield step


def _prepared(plugin: str) -> Step:
    """An in-tree plugin runs at preScore by default; where that is cleared it must be named."""

    def step(profile: Mapping[str, Any]) -> Iterator[Patch]:
        before = config.point(profile, "preScore")
        if before.disables(plugin) and plugin not in before.enabled:
            yield Patch("add", ("plugins", "preScore", "enabled", APPEND), {"name": plugin})

    return step
