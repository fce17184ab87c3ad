"""KubeSchedulerConfiguration as koord-scheduler reads it: profiles, plugins and args, with paths."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policykit.errors import PolicykitError
from policykit.manifests.memoize import memoize_last
from policykit.manifests.path import Path
from policykit.manifests.shape import mapping, mappings, text, whole
from policykit.model.release import Version
from policykit.namedtuple import NamedTuple
from policykit.targets.koordinator.names import SCHEDULER
from policykit.targets.koordinator.scheduler.plugins import (
    COSCHEDULING,
    MULTI_POINT,
    PLUGIN_NAMES,
    default_scores,
    scores,
)

KIND = "KubeSchedulerConfiguration"
DEFAULT_NAME = "default-scheduler"
_ARGS_HEAD = ("apiVersion", "kind")


class Plugin(NamedTuple):
    """An entry of a list of plugins at an extension point."""

    name: str
    path: Path = ()
    """Of the entry, below its profile."""
    weight: int | None = None
    """None: not stated, so 1."""


class Point(NamedTuple):
    """The plugins that a profile enables and disables at one extension point."""

    enabled: tuple[Plugin, ...] = ()
    disabled: tuple[Plugin, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Of the enabled plugins, in their order."""
        return tuple(plugin.name for plugin in self.enabled)

    @property
    def weights(self) -> dict[str, int]:
        """Enabled plugin to its weight, in their order."""
        return {each.name: each.weight if each.weight and each.weight > 0 else 1 for each in self.enabled}

    def plugin(self, name: str) -> Plugin | None:
        """The first entry that enables a plugin."""
        return next((each for each in self.enabled if each.name == name), None)

    def disables(self, *names: str) -> bool:
        """Whether one of the plugins is disabled here, by name or by the wildcard."""
        return any(each.name in (*names, "*") for each in self.disabled)


class Args(NamedTuple):
    """An entry of a profile's pluginConfig."""

    plugin: str
    path: Path = ()
    """Of its `args`, below its profile."""
    data: Mapping[str, Any] = {}

    @property
    def fields(self) -> dict[str, Any]:
        return {name: value for name, value in self.data.items() if name not in _ARGS_HEAD}


class Profile(NamedTuple):
    """How pods with one schedulerName are scheduled."""

    name: str = DEFAULT_NAME
    path: Path = ()
    points: Mapping[str, Point] = {}
    args: tuple[Args, ...] = ()
    data: Mapping[str, Any] = {}
    """The profile as plain data."""

    def point(self, name: str) -> Point:
        return self.points.get(name, Point())

    def entry(self, plugin: str) -> Args | None:
        """The first entry of pluginConfig for a plugin."""
        return next((each for each in self.args if each.plugin == plugin), None)

    def arguments(self, plugin: str) -> Mapping[str, Any]:
        """The args of a plugin; empty if there are none."""
        return next((each.data for each in self.args if each.plugin == plugin and each.data), {})

    def runs(self, plugin: str, point: str) -> bool:
        """Whether a plugin that is not a default one runs at a point."""
        if self.point(point).plugin(plugin):
            return True
        everywhere = self.point(MULTI_POINT).plugin(plugin)
        return everywhere is not None and not self.point(point).disables(plugin)

    def enables(self, plugin: str) -> bool:
        """Whether a plugin that is not a default one is enabled at any point, and so constructed."""
        return any(plugin in point.names for point in self.points.values())

    def runs_by_default(self, plugin: str, point: str) -> bool:
        """Whether a default plugin runs at a point that does not enable it by name."""
        multi = self.point(MULTI_POINT)
        if self.point(point).disables(plugin):
            return False
        return not multi.disables(plugin) or multi.plugin(plugin) is not None

    def score_weights(self, version: Version) -> dict[str, int]:
        """Every plugin that scores, with its weight: the point itself, then multiPoint, then the defaults.

        Source: `expandMultiPointPlugins` and `getScoreWeights` of the scheduler framework.
        """
        specific, multi, usual = self.point("score"), self.point(MULTI_POINT), default_scores(version)
        default = {name: weight for name, weight in usual.items() if not multi.disables(name)}
        found = specific.weights
        for name, weight in {**default, **multi.weights}.items():
            if not specific.disables(name) and name not in found and scores(name, version):
                found[name] = weight
        return found


class Configuration(NamedTuple):
    """A whole configuration."""

    api_version: object = None
    """As written; None if it is missing."""
    profiles: tuple[Profile, ...] = ()
    data: Mapping[str, Any] = {}

    def profile(self, name: str) -> Profile | None:
        """The first profile of a schedulerName."""
        return next((each for each in self.profiles if each.name == name), None)

    def required_profile(self, name: str) -> Profile:
        """The profile of a schedulerName. Raises PolicykitError if there is none."""
        found = self.profile(name)
        if found is None:
            names = ", ".join(profile.name for profile in self.profiles) or "none"
            raise PolicykitError(
                f"koord-scheduler-config has no profile for schedulerName {name}, only: {names}",
                "set targets.koordinator.schedulerName to the profile the workloads use",
                path=("targets", "koordinator", "schedulerName"),
            )
        return found


def read(data: object) -> Configuration:
    """The configuration in plain data. Parts of the wrong type are left out."""
    root = mapping(data)
    given = root.get("profiles")
    listed = enumerate(given if isinstance(given, list) else ())
    profiles = (read_profile(each, ("profiles", at)) for at, each in listed if isinstance(each, dict))
    return Configuration(root.get("apiVersion"), tuple(profiles), root)


def read_profile(data: Mapping[str, Any], path: Path = ()) -> Profile:
    """The profile at `path`."""
    name, given = text(data.get("schedulerName")), mapping(data.get("plugins"))
    points = {
        point: Point(_plugins(point, "enabled", plugins), _plugins(point, "disabled", plugins))
        for point, plugins in given.items()
        if isinstance(point, str) and isinstance(plugins, dict)
    }
    args = tuple(
        Args(plugin, ("pluginConfig", position, "args"), mapping(entry.get("args")))
        for position, plugin, entry in _named(data.get("pluginConfig"))
    )
    return Profile(name or DEFAULT_NAME, path, points, args, data)


def _plugins(point: str, field: str, given: Mapping[str, Any]) -> tuple[Plugin, ...]:
    return tuple(
        Plugin(name, ("plugins", point, field, position), whole(entry.get("weight")))
        for position, name, entry in _named(given.get(field))
    )


def _named(given: object) -> Iterator[tuple[int, str, Mapping[str, Any]]]:
    for position, entry in enumerate(given if isinstance(given, list) else ()):
        name = text(mapping(entry).get("name"))
        if name:
            yield position, name, entry


def args_kind(plugin: str) -> str:
    """The kind that a plugin's args must have."""
    return f"{plugin}Args"


@memoize_last
def is_for_koordinator(data: Mapping[str, Any]) -> bool:
    """Whether koord-scheduler reads a configuration: one binary reads all its profiles."""
    return any(_is_koordinator_profile(read_profile(each)) for each in mappings(data.get("profiles")))


def added_plugins(data: Mapping[str, Any]) -> frozenset[str]:
    """Plugins that koord-scheduler adds to kube-scheduler's; none if another scheduler reads the data."""
    return PLUGIN_NAMES if is_for_koordinator(data) else frozenset()


def _is_koordinator_profile(profile: Profile) -> bool:
    """Whether its name, or a plugin that no other scheduler has, shows that koord-scheduler reads it."""
    listed = (each.name for point in profile.points.values() for each in (*point.enabled, *point.disabled))
    own = PLUGIN_NAMES - {COSCHEDULING}  # other projects have a plugin of that name
    return SCHEDULER in profile.name or any(
        name in own for name in (*listed, *(each.plugin for each in profile.args))
    )
