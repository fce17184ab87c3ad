"""Koordinator: its scheduler's configuration, what its profiles pack by and what they avoid."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policykit.importer.found import Found
from policykit.manifests.shape import mapping, mappings
from policykit.model.placement import BINPACK, SPREAD, Placement, Point, ResourcePlacement
from policykit.targets.koordinator.names import SCHEDULER, SYSTEM
from policykit.targets.koordinator.scheduler import plugins
from policykit.targets.koordinator.scheduler.chart import CONFIG_MAP, KEY, NAMESPACE
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


def config_map(data: Mapping[str, Any], found: Found) -> str:
    """The scheduler configuration in the ConfigMap of koord-scheduler, as text; empty: none."""
    metadata = mapping(data.get("metadata"))
    text = mapping(data.get("data")).get(KEY)
    if metadata.get("name") != CONFIG_MAP or not isinstance(text, str):
        return ""
    namespace = metadata.get("namespace")
    other = namespace if isinstance(namespace, str) and namespace != NAMESPACE else ""
    found.target(SYSTEM, namespace=other)
    return text


def is_koordinators(data: Mapping[str, Any]) -> bool:
    """Whether a KubeSchedulerConfiguration is koord-scheduler's: by name, or by a plugin of its own."""
    return any(
        profile.get("schedulerName") == SCHEDULER
        or any(each.get("name") in _PLUGINS for each in mappings(profile.get("pluginConfig")))
        for profile in mappings(data.get("profiles"))
    )


def configuration(data: Mapping[str, Any], found: Found) -> None:
    """koord-scheduler's configuration: the names it serves, and how each profile scores.

    A profile in which NodeResourcesFit does not score is that of a placement.
    """
    if found.koordinator is None:
        found.koordinator = data
    more = []
    for number, profile in enumerate(read(data).profiles):
        name = profile.name
        fit = _fit(profile.arguments(plugins.FIT_PLUS), found)
        placed = _placement(name, profile, fit)
        if placed:
            found.add_placement(placed)
        if placed and number:
            more.append(name)
        if number == 0:
            _preemption(profile, found)
        if number == 0 or (fit and not placed):
            found.target(SYSTEM, schedulerName=name, fit={} if placed else fit)
        if name != "default-scheduler":
            found.schedulers[name] = None
    if more:
        found.option(SYSTEM, "profiles", more)


def _preemption(profile: Profile, found: Found) -> None:
    """Whose pods make room: quotas take back where all are watched, and no plugin at all may preempt."""
    reclaim = profile.arguments(plugins.QUOTAS).get("monitorAllQuotas")
    if isinstance(reclaim, bool) and found.preemption.reclaim is None:
        found.preemption = found.preemption._replace(reclaim=reclaim)
    there = profile.point("postFilter").names
    if (
        there
        and not any(name in there for _, name in PREEMPTION_PLUGINS)
        and found.preemption.within_queue is None
    ):
        found.preemption = found.preemption._replace(within_queue=False)


def _placement(name: str, profile: Profile, fit: Mapping[str, Mapping[str, Any]]) -> Placement | None:
    """The placement of a profile by its schedulerName; None where it has the in-tree scores."""
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
    """A placement that NodeResourcesFit scores: one strategy, perhaps with a shape."""
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


def _fit(arguments: Mapping[str, Any], found: Found) -> dict[str, dict[str, Any]]:
    fit: dict[str, dict[str, Any]] = {}
    for resource, each in mapping(arguments.get("resources")).items():
        kind, weight = mapping(each).get("type"), mapping(each).get("weight")
        whole = isinstance(weight, int) and not isinstance(weight, bool) and weight > 0
        if kind in _TYPES and whole:
            fit[resource] = {"type": kind, "weight": weight}
        else:
            found.say(
                f"NodeResourcesFitPlus: {resource} has type {kind} and weight {weight}, no effect; left out"
            )
    return fit
