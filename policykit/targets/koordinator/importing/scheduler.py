"""Reads the configuration of koord-scheduler back: scheduler names and placements of its profiles."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policykit.manifests.shape import mapping, mappings
from policykit.model.inventory import Inventory
from policykit.model.placement import BINPACK, SPREAD, Placement, Point, ResourcePlacement
from policykit.targets.koordinator.names import SCHEDULER, TARGET_NAME
from policykit.targets.koordinator.scheduler import plugins
from policykit.targets.koordinator.scheduler.configuration import Profile, read
from policykit.targets.koordinator.scheduler.placements import MAX_WEIGHT
from policykit.targets.koordinator.scheduler.settings import PREEMPTION_PLUGINS

_PLUGINS = frozenset(
    {
        *("LoadAwareScheduling", "NodeNUMAResource", "Reservation", "Coscheduling", "DeviceShare"),
        *("ElasticQuota", plugins.FIT_PLUS, plugins.SCARCE, "SchedulingHint"),
    }
)
_TYPES = ("MostAllocated", "LeastAllocated")
_STRATEGIES = {"MostAllocated": BINPACK, "LeastAllocated": SPREAD}


def is_koordinators(data: Mapping[str, Any]) -> bool:
    """Whether a KubeSchedulerConfiguration is koord-scheduler's, by schedulerName or plugins."""
    return any(
        profile.get("schedulerName") == SCHEDULER
        or any(each.get("name") in _PLUGINS for each in mappings(profile.get("pluginConfig")))
        for profile in mappings(data.get("profiles"))
    )


def configuration(data: Mapping[str, Any], inventory: Inventory) -> None:
    """Adds scheduler names, and how each profile scores.

    A profile in which NodeResourcesFit does not score belongs to a placement.
    """
    more = []
    for number, profile in enumerate(read(data).profiles):
        name = profile.name
        fit = _fit(profile.arguments(plugins.FIT_PLUS), inventory)
        placed = _placement(name, profile, fit)
        if placed:
            inventory.add_placement(placed)
        if placed and number:
            more.append(name)
        if number == 0:
            _preemption(profile, inventory)
        if number == 0 or (fit and not placed):
            inventory.target(TARGET_NAME, schedulerName=name, fit={} if placed else fit)
        if name != "default-scheduler":
            inventory.schedulers[name] = None
    if more:
        inventory.option(TARGET_NAME, "profiles", more)


def _preemption(profile: Profile, inventory: Inventory) -> None:
    """Adds preemption: quotas reclaim if all are monitored; without a postFilter plugin nothing preempts."""
    reclaim = profile.arguments(plugins.QUOTAS).get("monitorAllQuotas")
    if isinstance(reclaim, bool) and inventory.preemption.reclaim is None:
        inventory.preemption = inventory.preemption._replace(reclaim=reclaim)
    there = profile.point("postFilter").names
    if (
        there
        and not any(name in there for _, name in PREEMPTION_PLUGINS)
        and inventory.preemption.within_queue is None
    ):
        inventory.preemption = inventory.preemption._replace(within_queue=False)


def _placement(name: str, profile: Profile, fit: Mapping[str, Mapping[str, Any]]) -> Placement | None:
    """The placement of a profile, named by its schedulerName; None: it has the in-tree scores."""
    scores = profile.point("score")
    listed = profile.arguments(plugins.SCARCE).get("resources")
    avoid = tuple(each for each in listed if isinstance(each, str)) if isinstance(listed, list) else ()
    disabled = {each.name for each in scores.disabled}
    if fit and plugins.FIT in disabled:
        resources = {
            resource: ResourcePlacement(_STRATEGIES[each["type"]], min(each["weight"], MAX_WEIGHT))
            for resource, each in fit.items()
        }
        return Placement(name, _main(resources), resources, avoid=avoid, scheduler=name)
    if plugins.FIT in scores.names and plugins.BALANCED in disabled:
        strategy = mapping(profile.arguments(plugins.FIT).get("scoringStrategy"))
        return _in_tree(name, strategy)._replace(avoid=avoid)
    return None


def _in_tree(name: str, strategy: Mapping[str, Any]) -> Placement:
    """A placement scored by NodeResourcesFit: one strategy, perhaps with a shape."""
    shape = mappings(mapping(strategy.get("requestedToCapacityRatio")).get("shape"))
    points = [Point(each["utilization"], each["score"]) for each in shape if _whole(each)]
    falls = bool(points) and points[-1].score < points[0].score
    kind = _STRATEGIES.get(str(strategy.get("type")), SPREAD if falls else BINPACK)
    resources = {
        each["name"]: ResourcePlacement(kind, each["weight"])
        for each in mappings(strategy.get("resources"))
        if isinstance(each.get("name"), str) and isinstance(each.get("weight"), int)
    }
    return Placement(name, kind, resources, tuple(points), scheduler=name)


def _whole(point: Mapping[str, Any]) -> bool:
    return isinstance(point.get("utilization"), int) and isinstance(point.get("score"), int)


def _main(resources: Mapping[str, ResourcePlacement]) -> str:
    """The strategy of the heaviest resource."""
    return max(resources.values(), key=lambda each: each.weight).strategy


def _fit(arguments: Mapping[str, Any], inventory: Inventory) -> dict[str, dict[str, Any]]:
    fit: dict[str, dict[str, Any]] = {}
    for resource, each in mapping(arguments.get("resources")).items():
        kind, weight = mapping(each).get("type"), mapping(each).get("weight")
        whole = isinstance(weight, int) and not isinstance(weight, bool) and weight > 0
        if kind in _TYPES and whole:
            fit[resource] = {"type": kind, "weight": weight}
        else:
            inventory.add_remark(
                f"NodeResourcesFitPlus: {resource} with type {kind} and weight {weight} has no effect; "
                "left out"
            )
    return fit
