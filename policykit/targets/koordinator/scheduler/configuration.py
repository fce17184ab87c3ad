"""A KubeSchedulerConfiguration in its own words: profiles, plugins at their points, args."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from policykit.manifests.path import Path
from policykit.targets.koordinator.scheduler import args as plugin_args
from policykit.targets.koordinator.scheduler.args import Args

KIND = "KubeSchedulerConfiguration"
DEFAULT_NAME = "default-scheduler"
_TOP = frozenset({"apiVersion", "kind", "profiles"})
_PROFILE = frozenset({"schedulerName", "plugins", "pluginConfig"})


class Plugin(NamedTuple):
    """A plugin enabled at a point."""

    name: str
    weight: int | None = None
    """None: left out, so 1."""


class Point(NamedTuple):
    """What a profile says of one extension point."""

    enabled: tuple[Plugin, ...] = ()
    disabled: tuple[str, ...] = ()


class Profile(NamedTuple):
    """One schedulerName and how its pods are placed."""

    name: str = DEFAULT_NAME
    args: tuple[Args, ...] = ()
    points: Mapping[str, Point] = {}
    rest: Mapping[str, Any] = {}
    """Fields beside these, as they stand."""


class Configuration(NamedTuple):
    """A whole configuration."""

    api_version: str = ""
    profiles: tuple[Profile, ...] = ()
    rest: Mapping[str, Any] = {}
    """leaderElection and what else stands beside the profiles."""


def write(configuration: Configuration) -> dict[str, Any]:
    """The configuration as plain data."""
    return {
        "apiVersion": configuration.api_version,
        "kind": KIND,
        **configuration.rest,
        "profiles": [_write_profile(profile) for profile in configuration.profiles],
    }


def read(data: object) -> Configuration:
    """What plain data says; parts of another shape are left out."""
    root = data if isinstance(data, Mapping) else {}
    version = root.get("apiVersion")
    return Configuration(
        version if isinstance(version, str) else "",
        tuple(_read_profile(profile) for profile in _maps(root.get("profiles"))),
        {key: value for key, value in root.items() if key not in _TOP},
    )


def profile_place(data: object, name: str) -> Path | None:
    """Where the profile of a schedulerName stands in plain data."""
    root = data if isinstance(data, Mapping) else {}
    profiles = root.get("profiles")
    for position, each in enumerate(profiles if isinstance(profiles, list) else ()):
        if isinstance(each, Mapping) and each.get("schedulerName", DEFAULT_NAME) == name:
            return ("profiles", position)
    return None


def args_place(profile: object, plugin: str) -> Path | None:
    """Where the args of a plugin stand below a profile."""
    given = profile.get("pluginConfig") if isinstance(profile, Mapping) else None
    for position, each in enumerate(given if isinstance(given, list) else ()):
        if isinstance(each, Mapping) and each.get("name") == plugin:
            return ("pluginConfig", position, "args")
    return None


def plugin_place(profile: object, point: str, plugin: str, how: str = "enabled") -> Path | None:
    """Where a plugin is enabled (or disabled) at a point, below a profile."""
    plugins = profile.get("plugins") if isinstance(profile, Mapping) else None
    given = plugins.get(point) if isinstance(plugins, Mapping) else None
    entries = given.get(how) if isinstance(given, Mapping) else None
    for position, each in enumerate(entries if isinstance(entries, list) else ()):
        if isinstance(each, Mapping) and each.get("name") == plugin:
            return ("plugins", point, how, position)
    return None


def _write_profile(profile: Profile) -> dict[str, Any]:
    data: dict[str, Any] = {"schedulerName": profile.name, **profile.rest}
    if profile.args:
        data["pluginConfig"] = [plugin_args.write(each) for each in profile.args]
    if profile.points:
        data["plugins"] = {name: _write_point(point) for name, point in profile.points.items()}
    return data


def _write_point(point: Point) -> dict[str, Any]:
    data: dict[str, Any] = {}
    if point.disabled:
        data["disabled"] = [{"name": name} for name in point.disabled]
    if point.enabled:
        data["enabled"] = [
            {"name": plugin.name} if plugin.weight is None else {"name": plugin.name, "weight": plugin.weight}
            for plugin in point.enabled
        ]
    return data


def _read_profile(data: Mapping[str, Any]) -> Profile:
    name, plugins = data.get("schedulerName"), data.get("plugins")
    points = plugins if isinstance(plugins, Mapping) else {}
    entries = (plugin_args.read(each) for each in _maps(data.get("pluginConfig")))
    return Profile(
        name if isinstance(name, str) else DEFAULT_NAME,
        tuple(each for each in entries if each is not None),
        {point: _read_point(given) for point, given in points.items() if isinstance(given, Mapping)},
        {key: value for key, value in data.items() if key not in _PROFILE},
    )


def _read_point(data: Mapping[str, Any]) -> Point:
    return Point(
        tuple(
            Plugin(each["name"], _weight(each.get("weight")))
            for each in _maps(data.get("enabled"))
            if isinstance(each.get("name"), str)
        ),
        tuple(each["name"] for each in _maps(data.get("disabled")) if isinstance(each.get("name"), str)),
    )


def _weight(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _maps(data: object) -> list[Mapping[str, Any]]:
    return [each for each in data if isinstance(each, Mapping)] if isinstance(data, list) else []
