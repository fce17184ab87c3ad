"""Options with which `gen` writes an existing configuration of koord-scheduler again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import reduce
from typing import Any

from policykit import durations
from policykit.manifests.patch import Patch, patched
from policykit.model.cluster import Cluster, TargetSettings
from policykit.model.policy_values import duration
from policykit.model.release import Version
from policykit.targets.koordinator import versions
from policykit.targets.koordinator.names import SCHEDULER, TARGET_NAME
from policykit.targets.koordinator.options import KoordinatorOptions, of
from policykit.targets.koordinator.scheduler import chart, configuration, fields, profiles, repair
from policykit.targets.koordinator.scheduler.configuration import Configuration, Profile
from policykit.targets.koordinator.scheduler.fields import DURATIONS, SECTIONS, WEIGHT
from policykit.targets.koordinator.scheduler.plugins import COSCHEDULING, FIT_PLUS, SCARCE
from policykit.targets.koordinator.scheduler.settings import job_preemption

Say = Callable[[str], None]

_WEIGHED = (("LoadAwareScheduling", "DeviceShare", "NodeNUMAResource"), (SCARCE,))
"""Plugins whose score weight a policy can state, in the order in which they are computed."""
_CHARTS = ("1.8.0", "1.7.0", "1.6.0", "1.5.0", "1.4.1")
_NOT_IN_1_6_0 = frozenset({FIT_PLUS, SCARCE})
"""Plugins that 1.6.0 cannot run with the configuration of its chart."""
_SCORING = frozenset({"preScore", "score", "postFilter"})
"""Extension points that depend on the policy; preBind differs between 1.7 and 1.8."""
_NONE = {"allocator", "estimator", "hookPlugins"}
"""Fields without an option."""


def options(cluster: Cluster, there: Mapping[str, Any], file: str, say: Say) -> dict[str, Any]:
    """Sections of plugin args to add to `targets.koordinator`.

    `cluster` is the policy without them. Raises PolicykitError if the configuration is not from a
    known release or has no profile for the schedulerName.
    """
    target = cluster.targets[TARGET_NAME]
    version = versions.parse(target.version)
    name = target.scheduler_name or SCHEDULER
    data = reduce(patched, repair.repair(there, version).patches, there)
    data = reduce(patched, _without_job_preemption(configuration.read(data), version), data)
    mine = configuration.read(data).required_profile(name)
    ours = configuration.read(_written(cluster, target)).required_profile(name)
    found = of(target)
    for _, plugin in SECTIONS.values():
        stated = dict(_changed_fields(mine.arguments(plugin), ours.arguments(plugin)))
        unsupported = [field for field in stated if field in _NONE or fields.since(plugin, field) is None]
        if unsupported:
            say(f"{file}: {plugin}: a policy has no option for {', '.join(unsupported)}; left out")
        kept = {field: value for field, value in stated.items() if field not in unsupported}
        if kept:
            found = found._replace(args={**found.args, plugin: kept})
    for plugins in _WEIGHED:
        # The weight of SCARCE is computed from those of the others.
        ours = configuration.read(_written(cluster, target._replace(options=found))).required_profile(name)
        weights = {plugin: weight for plugin in plugins if (weight := _weight(mine, ours, plugin))}
        found = found._replace(weights={**found.weights, **weights})
    _report_differences(cluster, target._replace(options=found), data, file, say)
    return {key: stated for key, plugin in SECTIONS.values() if (stated := _section(found, plugin))}


def _without_job_preemption(there: Configuration, version: Version) -> Iterator[Patch]:
    """Says in the args what the chart leaves out where scheduler.enableJobPreemption is false."""
    for profile in there.profiles:
        gangs, preempting = (
            profile.entry(COSCHEDULING),
            profile.point("postFilter").plugin("DefaultPreemption"),
        )
        stated = gangs and "enablePreemption" in gangs.data
        if gangs and gangs.data and preempting and not stated and version >= chart.JOB_PREEMPTION_VALUE:
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
        version, target.namespace or chart.NAMESPACE, job_preemption=job_preemption(of(target))
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
    if isinstance(value, Mapping):
        return {name: _value(name, each) for name, each in value.items()}
    if field == "resources" and isinstance(value, list) and any(isinstance(each, Mapping) for each in value):
        listed = [each for each in value if isinstance(each, Mapping) and "name" in each]
        return {str(each["name"]): each.get("weight", 1) for each in listed}
    return value


def _report_differences(
    cluster: Cluster, target: TargetSettings, there: Mapping[str, Any], file: str, say: Say
) -> None:
    """Reports what the policy would still generate differently."""
    ours = configuration.read(_written(cluster, target))
    apart = list(dict.fromkeys(_differences(configuration.read(there), ours)))
    if apart:
        say(
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
