"""Options of Koordinator with which `gen` writes the configuration of koord-scheduler that is there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import reduce
from typing import Any

from policykit.catalogue.koordinator import durations, fields
from policykit.catalogue.koordinator.fields import DURATIONS, SECTIONS, WEIGHT
from policykit.importer.sections import duration
from policykit.manifests.patch import patched
from policykit.model.cluster import Cluster, Target
from policykit.targets.koordinator import versions
from policykit.targets.koordinator.names import SCHEDULER, SYSTEM
from policykit.targets.koordinator.scheduler import chart, configuration, profiles, repair
from policykit.targets.koordinator.scheduler.configuration import Configuration, Profile
from policykit.targets.koordinator.scheduler.plugins import FIT_PLUS, SCARCE

Say = Callable[[str], None]

_WEIGHED = frozenset({"LoadAwareScheduling", "DeviceShare", "NodeNUMAResource", SCARCE})
"""Plugins whose weight at score a policy may state."""
_CHARTS = ("1.8.0", "1.7.0", "1.6.0", "1.5.0", "1.4.1")
_AFTER_1_6_0 = frozenset({FIT_PLUS, SCARCE})
"""Plugins that do not start with 1.6.0 and the configuration of its chart."""
_SCORING = frozenset({"preScore", "score", "postFilter"})
"""Points that a policy has a word in; preBind tells 1.8 from 1.7."""
_NONE = {"allocator", "estimator", "hookPlugins"}
"""Fields that a policy has no option for."""


def options(cluster: Cluster, there: Mapping[str, Any], say: Say) -> dict[str, Any]:
    """`targets.koordinator` of the policy beside what it has: sections of plugins' args.

    `cluster` is the policy without them. Raises PolicykitError where the configuration is not that of
    a release policykit knows, or has no profile for the schedulerName.
    """
    target = cluster.targets[SYSTEM]
    version = versions.parse(target.version)
    name = target.scheduler_name or SCHEDULER
    data = reduce(patched, repair.repaired(there, version).patches, there)
    mine = configuration.read(data).required_profile(name)
    ours = configuration.read(_written(cluster, target)).required_profile(name)
    found: dict[str, dict[str, Any]] = {}
    for section, (_, plugin) in SECTIONS.items():
        stated = dict(_differing(mine.arguments(plugin), ours.arguments(plugin)))
        unsaid = [field for field in stated if field in _NONE or fields.since(plugin, field) is None]
        if unsaid:
            say(f"{plugin}: a policy has no {', '.join(unsaid)}; left out")
        kept = {field: value for field, value in stated.items() if field not in unsaid}
        if kept:
            found[section] = kept
    for section, (_, plugin) in SECTIONS.items():
        # Each weight moves those that are computed from it, so one is looked at after the other.
        ours = configuration.read(_written(cluster, _stating(target, found))).required_profile(name)
        weight = _weight(mine, ours, plugin)
        if weight:
            found[section] = {WEIGHT: weight, **found.get(section, {})}
    _tell(cluster, target, found, data, say)
    return {SECTIONS[section][0]: _policy(stated) for section, stated in found.items()}


def release(there: Mapping[str, Any]) -> str:
    """The release whose chart enables what a configuration enables; empty: none does."""
    found = configuration.read(there)
    packs = any(each.plugin in _AFTER_1_6_0 for profile in found.profiles for each in profile.args)
    for name in _CHARTS:
        version = versions.parse(name)
        usual = configuration.read(chart.configuration(version, chart.NAMESPACE))
        if found.api_version == usual.api_version and any(
            _enabled(profile) == _enabled(usual.profiles[0]) for profile in found.profiles
        ):
            return "1.6.1" if name == "1.6.0" and packs else name
    return ""


def _enabled(profile: Profile) -> dict[str, tuple[str, ...]]:
    """Points that a policy leaves as they are, to what is enabled there."""
    return {
        point: tuple(plugin.name for plugin in given.enabled)
        for point, given in profile.points.items()
        if point not in _SCORING
    }


def _written(cluster: Cluster, target: Target) -> dict[str, Any]:
    """The configuration that `gen` writes over the chart's."""
    version = versions.parse(target.version)
    data = chart.configuration(version, target.namespace or chart.NAMESPACE)
    plan = profiles.plan(cluster, target, data, target.scheduler_name or SCHEDULER, version)
    made: dict[str, Any] = reduce(patched, plan.patches, data)
    return made


def _stating(target: Target, found: Mapping[str, Any]) -> Target:
    return target._replace(options={**target.options, **found})


def _differing(mine: Mapping[str, Any], ours: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for field, value in mine.items():
        if field not in ("apiVersion", "kind") and (field not in ours or ours[field] != value):
            yield field, value


def _weight(mine: Profile, ours: Profile, plugin: str) -> int | None:
    """The weight at score, where it is not the one that is written."""
    there = mine.point("score").weights.get(plugin)
    usual = ours.point("score").weights.get(plugin)
    return None if there == usual or plugin not in _WEIGHED else there


def _policy(stated: Mapping[str, Any]) -> dict[str, Any]:
    """Args as the policy has them: durations in its units, resources of a strategy as a map."""
    return {field: _value(field, value) for field, value in stated.items()}


def _value(field: str, value: Any) -> Any:
    if field in DURATIONS and isinstance(value, str):
        seconds = durations.seconds(value)
        return duration(seconds) if seconds else value
    if isinstance(value, Mapping):
        return {name: _value(name, each) for name, each in value.items()}
    if field == "resources" and isinstance(value, list) and any(isinstance(each, Mapping) for each in value):
        listed = [each for each in value if isinstance(each, Mapping) and "name" in each]
        return {str(each["name"]): each.get("weight", 1) for each in listed}
    return value


def _tell(
    cluster: Cluster, target: Target, found: Mapping[str, Any], there: Mapping[str, Any], say: Say
) -> None:
    """What the policy would still write otherwise."""
    ours = configuration.read(_written(cluster, _stating(target, found)))
    apart = list(dict.fromkeys(_apart(configuration.read(there), ours)))
    if apart:
        say(
            f"koord-scheduler-config is not what this policy gives: {', '.join(apart)} differ. To keep the "
            "rest as it is, name the file in targets.koordinator.config"
        )


def _apart(mine: Configuration, ours: Configuration) -> Iterator[str]:
    by_name = {profile.name: profile for profile in ours.profiles}
    for profile in mine.profiles:
        other = by_name.get(profile.name)
        if other is None:
            yield f"profile {profile.name}"
        else:
            yield from _apart_in(profile, other)


def _apart_in(mine: Profile, ours: Profile) -> Iterator[str]:
    given = {each.plugin: each.fields for each in mine.args}
    made = {each.plugin: each.fields for each in ours.args}
    for plugin in sorted({*given, *made}):
        if given.get(plugin, {}) != made.get(plugin, {}):
            yield f"args of {plugin}"
    for point in sorted({*mine.points, *ours.points}):
        if mine.points.get(point) != ours.points.get(point):
            yield f"plugins at {point}"
