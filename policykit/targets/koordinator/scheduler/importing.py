"""Reads the configuration of koord-scheduler back: profiles, placements, and options that write it again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import reduce
from typing import Any

from policykit import durations
from policykit.manifests.patch import Patch, patched
from policykit.manifests.shape import mapping, mappings, text
from policykit.model.cluster import Cluster, TargetSettings
from policykit.model.inventory import Inventory
from policykit.model.release import Version
from policykit.model.workload import BINPACK, SPREAD, Placement, Point, ResourcePlacement
from policykit.targets.import_values import duration
from policykit.targets.koordinator import versions
from policykit.targets.koordinator.names import SCHEDULER, TARGET_NAME
from policykit.targets.koordinator.options import KoordinatorOptions, koordinator_options
from policykit.targets.koordinator.scheduler import chart, configuration, fields, merge, plugins, profiles
from policykit.targets.koordinator.scheduler.configuration import Configuration, Profile, read
from policykit.targets.koordinator.scheduler.fields import DURATIONS, SECTIONS, WEIGHT
from policykit.targets.koordinator.scheduler.placements import MAX_WEIGHT
from policykit.targets.koordinator.scheduler.plugins import COSCHEDULING, FIT_PLUS, SCARCE
from policykit.targets.koordinator.scheduler.settings import PREEMPTION_PLUGINS, job_preemption

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
        or any(text(each.get("name")) in _PLUGINS for each in mappings(profile.get("pluginConfig")))
        for profile in mappings(data.get("profiles"))
    )


def add_profiles(data: Mapping[str, Any], inventory: Inventory) -> None:
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


Notify = Callable[[str], None]

_WEIGHED = (("LoadAwareScheduling", "DeviceShare", "NodeNUMAResource"), (SCARCE,))
"""Plugins whose score weight a policy can state, in the order in which they are computed."""
_CHARTS = ("1.8.0", "1.7.0", "1.6.0", "1.5.0", "1.4.1")
_NOT_IN_1_6_0 = frozenset({FIT_PLUS, SCARCE})
"""Plugins that 1.6.0 cannot run with the configuration of its chart."""
_SCORING = frozenset({"preScore", "score", "postFilter"})
"""Extension points that depend on the policy; preBind differs between 1.7 and 1.8."""
_NONE = {"allocator", "estimator", "hookPlugins"}
"""Fields without an option."""


def options(cluster: Cluster, there: Mapping[str, Any], file: str, notify: Notify) -> dict[str, Any]:
    """Sections of plugin args to add to `targets.koordinator`.

    `cluster` is the policy without them. Raises PolicykitError if the configuration is not from a
    known release or has no profile for the schedulerName.
    """
    target = cluster.targets[TARGET_NAME]
    version = versions.parse(target.version)
    name = target.scheduler_name or SCHEDULER
    data = reduce(patched, merge.repair(there, version).patches, there)
    data = reduce(patched, _without_job_preemption(configuration.read(data), version), data)
    mine = configuration.read(data).required_profile(name)
    ours = configuration.read(_written(cluster, target)).required_profile(name)
    found = koordinator_options(target)
    for _, plugin in SECTIONS.values():
        changed = dict(_changed_fields(mine.arguments(plugin), ours.arguments(plugin)))
        stated = fields.of_release(plugin, changed, versions.RELEASES.newest)
        unsupported = [field for field in stated if field in _NONE or fields.since(plugin, field) is None]
        if unsupported:
            notify(f"{file}: {plugin}: a policy has no option for {', '.join(unsupported)}; left out")
        kept = {field: value for field, value in stated.items() if field not in unsupported}
        if kept:
            found = found._replace(args={**found.args, plugin: kept})
    for group in _WEIGHED:
        # The weight of SCARCE is computed from those of the others.
        ours = configuration.read(_written(cluster, target._replace(options=found))).required_profile(name)
        weights = {plugin: weight for plugin in group if (weight := _weight(mine, ours, plugin))}
        found = found._replace(weights={**found.weights, **weights})
    _report_differences(cluster, target._replace(options=found), data, file, notify)
    return {key: stated for key, plugin in SECTIONS.values() if (stated := _section(found, plugin))}


def _without_job_preemption(there: Configuration, version: Version) -> Iterator[Patch]:
    """Says in the args what the chart leaves out where scheduler.enableJobPreemption is false."""
    for profile in there.profiles:
        gangs, preempting = (
            profile.entry(COSCHEDULING),
            profile.point("postFilter").plugin("DefaultPreemption"),
        )
        stated = gangs and "enablePreemption" in gangs.data
        if gangs and gangs.data and preempting and not stated and version >= versions.JOB_PREEMPTION_VALUE:
            yield Patch("add", (*profile.path, *gangs.path, "enablePreemption"), False)


def _section(found: KoordinatorOptions, plugin: str) -> dict[str, Any]:
    """The options for a plugin, in the form of the policy."""
    weight = {WEIGHT: found.weights[plugin]} if plugin in found.weights else {}
    return {**weight, **_policy(found.fields(plugin))}


def release(there: Mapping[str, Any]) -> str:
    """The release whose chart enables the same plugins; empty: none."""
    found = configuration.read(there)
    packs = any(each.plugin in _NOT_IN_1_6_0 for profile in found.profiles for each in profile.args)
    for name in _CHARTS:
        version = versions.parse(name)
        usual = configuration.read(chart.configuration(version, chart.NAMESPACE))
        if found.api_version == usual.api_version and any(
            _enabled(profile) == _enabled(usual.profiles[0]) for profile in found.profiles
        ):
            return "1.6.1" if name == "1.6.0" and packs else name
    return ""


def _enabled(profile: Profile) -> dict[str, tuple[str, ...]]:
    """Extension points that the policy does not affect, to the plugins enabled there."""
    return {
        point: tuple(plugin.name for plugin in given.enabled)
        for point, given in profile.points.items()
        if point not in _SCORING
    }


def _written(cluster: Cluster, target: TargetSettings) -> dict[str, Any]:
    """The configuration that `gen` writes."""
    version = versions.parse(target.version)
    data = chart.configuration(
        version,
        target.namespace or chart.NAMESPACE,
        job_preemption=job_preemption(koordinator_options(target)),
    )
    plan = profiles.plan(cluster, target, data, target.scheduler_name or SCHEDULER, version)
    made: dict[str, Any] = reduce(patched, plan.patches, data)
    return made


def _changed_fields(mine: Mapping[str, Any], ours: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for field, value in mine.items():
        if field not in ("apiVersion", "kind") and (field not in ours or ours[field] != value):
            yield field, value


def _weight(mine: Profile, ours: Profile, plugin: str) -> int | None:
    """The score weight if it differs from the generated one."""
    there = mine.point("score").weights.get(plugin)
    usual = ours.point("score").weights.get(plugin)
    return None if there == usual else there


def _policy(stated: Mapping[str, Any]) -> dict[str, Any]:
    """Args in the form of the policy: durations with units, resources of a strategy as a map."""
    return {field: _value(field, value) for field, value in stated.items()}


def _value(field: str, value: Any) -> Any:
    if field in DURATIONS and isinstance(value, str):
        seconds = durations.seconds(value)
        return duration(seconds) if seconds else value
    if isinstance(value, dict):
        return {name: _value(name, each) for name, each in value.items()}
    if field == "resources" and isinstance(value, list) and any(isinstance(each, dict) for each in value):
        listed = [each for each in value if isinstance(each, dict) and "name" in each]
        return {str(each["name"]): each.get("weight", 1) for each in listed}
    return value


def _report_differences(
    cluster: Cluster, target: TargetSettings, there: Mapping[str, Any], file: str, notify: Notify
) -> None:
    """Reports what the policy would still generate differently."""
    ours = configuration.read(_written(cluster, target))
    apart = list(dict.fromkeys(_differences(configuration.read(there), ours)))
    if apart:
        notify(
            f"{file} differs from what this policy generates: {', '.join(apart)}. To keep "
            "the rest, name the file in targets.koordinator.config"
        )


def _differences(mine: Configuration, ours: Configuration) -> Iterator[str]:
    by_name = {profile.name: profile for profile in ours.profiles}
    for profile in mine.profiles:
        other = by_name.get(profile.name)
        if other is None:
            yield f"profile {profile.name}"
        else:
            yield from _profile_differences(profile, other)


def _profile_differences(mine: Profile, ours: Profile) -> Iterator[str]:
    given = {each.plugin: each.fields for each in mine.args}
    made = {each.plugin: each.fields for each in ours.args}
    for plugin in sorted({*given, *made}):
        if given.get(plugin, {}) != made.get(plugin, {}):
            yield f"args of {plugin}"
    for point in sorted({*mine.points, *ours.points}):
        if mine.points.get(point) != ours.points.get(point):
            yield f"plugins at {point}"
