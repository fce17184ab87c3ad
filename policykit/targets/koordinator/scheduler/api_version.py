"""Checks of the apiVersion of a configuration: the releases that read it, and what they support."""

from __future__ import annotations

from collections.abc import Iterator

from policykit.manifests.patch import Patch
from policykit.manifests.problem import Problem, Repair
from policykit.model.release import Version
from policykit.namedtuple import NamedTuple
from policykit.targets.koordinator import versions
from policykit.targets.koordinator.scheduler import fields, plugins
from policykit.targets.koordinator.scheduler.configuration import Configuration, Plugin, Profile, args_kind
from policykit.targets.koordinator.scheduler.plugin_args import NO_START, problem
from policykit.targets.koordinator.scheduler.plugins import SCORERS
from policykit.targets.koordinator.versions import GROUP

Releases = tuple[Version, ...]
_ONLY_V1BETA2 = ("healthzBindAddress", "metricsBindAddress")


def readers(configuration: Configuration, releases: Releases) -> Releases:
    """Releases that read the apiVersion.

    All releases if none reads it, or if the rest of the configuration is for later ones: then the
    apiVersion is at fault.
    """
    reading = _reading(configuration, releases)
    return releases if not reading or _newer_feature(configuration, reading, releases) else reading


def api_version_problems(configuration: Configuration, releases: Releases) -> Iterator[Problem]:
    """An apiVersion that no release reads, or only releases that are too old for the plugins."""
    stated = configuration.api_version
    newest = versions.config_versions(releases[-1]).newest
    removed = [field for field in _ONLY_V1BETA2 if field in configuration.data]
    patches = () if removed else tuple(_rewritten(configuration, newest))
    repair = Repair(f"change it to {newest}, in the args too", patches) if patches else None
    help_ = f"write {newest}" + (f", which has no {', '.join(removed)}: delete it" if removed else "")
    reading = _reading(configuration, releases)
    if not reading:
        group, _, outer = str(stated).partition("/")
        known = any(outer in versions.config_versions(each).known for each in releases)
        what = "does not know its own plugins' args in" if group == GROUP and known else "does not read"
        message = f"{fields.release_range(releases)} {what} apiVersion {stated}"
        yield problem(("apiVersion",), message, NO_START, help_, repair=repair)
        return
    newer = _newer_feature(configuration, reading, releases)
    if newer:
        message = (
            f"only {fields.release_range(reading)} reads apiVersion {stated}, but {newer.feature} was "
            f"added in {newer.since}"
        )
        effect = "no koord-scheduler starts with this configuration"
        yield problem(("apiVersion",), message, effect, help_, repair=repair)
        return
    yield from _unregistered_args(configuration, reading)


def _rewritten(configuration: Configuration, api_version: str) -> Iterator[Patch]:
    yield Patch("add", ("apiVersion",), api_version)
    for profile in configuration.profiles:
        for args in profile.args:
            if args.data.get("apiVersion", api_version) != api_version:
                yield Patch("replace", (*profile.path, *args.path, "apiVersion"), api_version)


def _unregistered_args(configuration: Configuration, reading: Releases) -> Iterator[Problem]:
    """1.6.0 registers the args of two plugins in v1beta3 only."""
    stated = str(configuration.api_version)
    outer = stated.partition("/")[2]
    if any(outer in versions.config_versions(each).fit_plus for each in reading):
        return
    for profile in configuration.profiles:
        for _, plugin in _enabled(profile):
            if plugin.name in SCORERS and plugins.PLUGINS[plugin.name] <= reading[0]:
                yield problem(
                    (*profile.path, *plugin.path, "name"),
                    f"Koordinator {reading[0]} has no {args_kind(plugin.name)} in {stated}",
                    NO_START,
                    f"set the scheduler's image tag to v1.6.1, or write the configuration in {GROUP}/v1beta3",
                )
                return


def args_type_problems(configuration: Configuration, reading: Releases) -> Iterator[Problem]:
    """Wrong apiVersion or kind in the args of Koordinator's plugins; none if no release reads the file."""
    if not _reading(configuration, reading):
        return
    api_version = configuration.api_version
    own = ((p, args) for p in configuration.profiles for args in p.args if args.plugin in plugins.PLUGINS)
    for profile, args in own:
        path, right = (*profile.path, *args.path), args_kind(args.plugin)
        kind, version = args.data.get("kind"), args.data.get("apiVersion")
        if isinstance(kind, str) and kind != right:
            yield problem(
                (*path, "kind"),
                f"args of {args.plugin} have kind {kind}, not {right}",
                NO_START,
                f"write {right}, or delete the line",
                repair=Repair(f"change it to {right}", (Patch("replace", (*path, "kind"), right),)),
            )
        if isinstance(version, str) and not any(versions.reads_args(each, version) for each in reading):
            yield problem(
                (*path, "apiVersion"),
                f"args of {args.plugin} have apiVersion {version}, which {fields.release_range(reading)} "
                "does not read",
                NO_START,
                f"write {api_version}, as at the top, or delete the line",
                repair=Repair(
                    f"change it to {api_version}", (Patch("replace", (*path, "apiVersion"), api_version),)
                ),
            )


class _Feature(NamedTuple):
    """A plugin, point or field that was added in a later release."""

    feature: str
    since: str


def _newer_feature(configuration: Configuration, reading: Releases, releases: Releases) -> _Feature | None:
    """The first of several features that only releases later than the reading ones have.

    None for a single feature: then the feature is at fault.
    """
    found: list[_Feature] = []
    for profile in configuration.profiles:
        for point, plugin in _enabled(profile):
            first = next((each for each in releases if plugins.implements(plugin.name, point, each)), None)
            if first is not None and all(each < first for each in reading):
                whole = plugins.PLUGINS[plugin.name] == first
                feature = plugin.name if whole else f"{plugin.name} at {point}"
                found.append(_Feature(feature, fields.release_text(first)))
        for args in profile.args:
            for name in fields.unknown_fields(args.plugin, args.data, reading[-1]):
                since = fields.since(args.plugin, name)
                if since is not None and any(each >= since for each in releases):
                    found.append(_Feature(f"{name} of {args.plugin}", fields.release_text(since)))
    return found[0] if len(found) > 1 else None


def _reading(configuration: Configuration, releases: Releases) -> Releases:
    return tuple(each for each in releases if versions.reads_args(each, configuration.api_version))


def _enabled(profile: Profile) -> Iterator[tuple[str, Plugin]]:
    return ((name, plugin) for name, point in profile.points.items() for plugin in point.enabled)
