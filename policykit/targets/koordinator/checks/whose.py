"""Whether a KubeSchedulerConfiguration is koord-scheduler's: nobody else has its plugins."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policykit.manifests.path import Path
from policykit.manifests.shape import mapping, mappings, text
from policykit.targets.koordinator.names import SCHEDULER
from policykit.targets.koordinator.scheduler.points import GONE, PLUGINS

KIND = "KubeSchedulerConfiguration"
PLUGIN_NAMES = frozenset({*PLUGINS, *GONE})
"""Plugins of koord-scheduler, those of old releases included."""
_COMMON = frozenset({"Coscheduling"})
"""Names that plugins of other projects have too."""


def is_koordinators(data: Mapping[str, Any]) -> bool:
    """One binary reads all profiles, so one that is Koordinator's makes them all so."""
    return any(_is_koordinators(each) for each in mappings(data.get("profiles")))


def _is_koordinators(profile: Mapping[str, Any]) -> bool:
    """By the name of the profile, or by a plugin that no other scheduler has."""
    if SCHEDULER in text(profile.get("schedulerName")):
        return True
    return any(name in PLUGIN_NAMES and name not in _COMMON for name in _named(profile))


def profiles(data: Mapping[str, Any]) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    """Where each profile of a koord-scheduler stands, and what it says; of any other scheduler nothing."""
    listed = data.get("profiles")
    if isinstance(listed, list) and is_koordinators(data):
        for position, profile in enumerate(listed):
            if isinstance(profile, Mapping):
                yield ("profiles", position), profile


def entries(profile: Mapping[str, Any], point: str, how: str = "enabled") -> Iterator[tuple[Path, str]]:
    """Plugins that a point enables or disables: where each stands below the profile, and its name."""
    given = mapping(mapping(profile.get("plugins")).get(point)).get(how)
    for position, entry in enumerate(given if isinstance(given, list) else ()):
        name = text(mapping(entry).get("name"))
        if name:
            yield ("plugins", point, how, position), name


def points(profile: Mapping[str, Any]) -> Iterator[str]:
    """Extension points that a profile speaks of."""
    return (point for point in mapping(profile.get("plugins")) if isinstance(point, str))


def arguments(profile: Mapping[str, Any]) -> Iterator[tuple[Path, str, Mapping[str, Any]]]:
    """Where the args of each plugin stand below the profile, its name, and the args."""
    given = profile.get("pluginConfig")
    for position, entry in enumerate(given if isinstance(given, list) else ()):
        name = text(mapping(entry).get("name"))
        if name:
            yield ("pluginConfig", position, "args"), name, mapping(mapping(entry).get("args"))


def runs_at(profile: Mapping[str, Any], point: str, plugin: str) -> bool:
    """Whether a plugin that is off by default runs at a point: enabled there, or everywhere but not off."""
    if any(name == plugin for _, name in entries(profile, point)):
        return True
    off = {name for _, name in entries(profile, point, "disabled")}
    everywhere = any(name == plugin for _, name in entries(profile, "multiPoint"))
    return everywhere and not off & {plugin, "*"}


def runs_by_default(profile: Mapping[str, Any], point: str, plugin: str) -> bool:
    """Whether a plugin that is on by default runs at a point, if that does not name it: nothing disables it,
    or it is enabled everywhere again."""
    off = {plugin, "*"}
    if any(name in off for _, name in entries(profile, point, "disabled")):
        return False
    everywhere = any(name in off for _, name in entries(profile, "multiPoint", "disabled"))
    return not everywhere or any(name == plugin for _, name in entries(profile, "multiPoint"))


def _named(profile: Mapping[str, Any]) -> Iterator[str]:
    for point in points(profile):
        for how in ("enabled", "disabled"):
            yield from (name for _, name in entries(profile, point, how))
    yield from (name for _, name, _ in arguments(profile))
