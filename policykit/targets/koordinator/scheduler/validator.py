"""Validation of a configuration: what stops koord-scheduler, has no effect, or harms pods."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise

from policykit.kube.placeholders import is_placeholder
from policykit.kube.structure.problem import conversion_hint, described, expected
from policykit.manifests.patch import APPEND, Patch
from policykit.manifests.path import Path
from policykit.manifests.problem import Problem, Repair
from policykit.model.release import Version
from policykit.model.severity import Severity
from policykit.targets.koordinator import versions
from policykit.targets.koordinator.scheduler import fields, plugin_args, plugins
from policykit.targets.koordinator.scheduler.api_version import (
    Releases,
    api_version_problems,
    args_type_problems,
    readers,
)
from policykit.targets.koordinator.scheduler.configuration import Configuration, Plugin, Profile
from policykit.targets.koordinator.scheduler.plugin_args import NO_START, REFUSED_VALUE, problem
from policykit.targets.koordinator.scheduler.plugins import (
    BINDER,
    COSCHEDULING,
    MULTI_POINT,
    PREFERENCES,
    PRIORITY_SORT,
    RESERVATION,
    RESERVATION_FIRST,
    SCORERS,
)
from policykit.targets.kubernetes.scheduler.plugins import IN_TREE

_PYTHON = {"boolean": bool, "integer": int, "string": str, "object": dict, "array": list}
_POINTS = frozenset({*plugins.ORDER, MULTI_POINT})
"""Any other point is reported by PK802."""


def problems(configuration: Configuration, version: Version) -> Iterator[Problem]:
    """All problems of a configuration for one release."""
    releases = (version,)
    yield from startup(configuration, releases)
    for profile in configuration.profiles:
        yield from arguments(profile, releases)
        yield from plugin_order(profile)
        yield from disabled_scores(profile)
        yield from unprepared_scores(profile, releases)


def startup(configuration: Configuration, releases: Releases) -> Iterator[Problem]:
    """Problems that stop every one of `releases` at start-up, apart from fields of args."""
    yield from api_version_problems(configuration, releases)
    reading = readers(configuration, releases)
    yield from args_type_problems(configuration, reading)
    for profile in configuration.profiles:
        yield from _unknown_points(profile, reading)
        yield from _misplaced_plugins(profile, reading)
    yield from _queue_sort(configuration, reading)
    split = tuple(_split_profiles(configuration.profiles))
    yield from split
    if not split:
        yield from _unnamed_profiles(configuration.profiles)


def _unknown_points(profile: Profile, reading: Releases) -> Iterator[Problem]:
    """Extension points that the kube-scheduler in these releases does not know yet."""
    for name in profile.points:
        if name in _POINTS and not any(plugins.knows_point(name, each) for each in reading):
            path = (*profile.path, "plugins", name)
            yield problem(
                path,
                f"{fields.release_range(reading)} has no extension point {name}",
                NO_START,
                f"delete it: it came with {versions.KUBERNETES_1_28}",
                key=True,
                repair=Repair("delete it", (Patch("remove", path),)),
            )


def _misplaced_plugins(profile: Profile, reading: Releases) -> Iterator[Problem]:
    """Plugins enabled twice at a point, or at a point they do not implement."""
    for name in filter(_POINTS.__contains__, profile.points):
        seen: set[str] = set()
        for plugin in profile.point(name).enabled:
            path = (*profile.path, *plugin.path)
            remove = (Patch("remove", path),)
            if plugin.name in seen:
                message, help_ = f"{plugin.name} is enabled twice at {name}", "delete one of the two"
                repair = Repair("remove the second", remove)
                yield problem((*path, "name"), message, NO_START, help_, repair=repair)
            elif all(plugins.implements(plugin.name, name, each) is False for each in reading):
                yield problem(
                    (*path, "name"),
                    f"{plugin.name} is not a {name} plugin in {fields.release_range(reading)}",
                    NO_START,
                    _implemented_points(plugin.name, name),
                    repair=Repair("remove it there", remove),
                )
            seen.add(plugin.name)


def _implemented_points(plugin: str, point: str) -> str:
    if plugin in plugins.GONE:
        return "delete it: no release since 1.3 has it"
    if (plugin, point) == (COSCHEDULING, "queueSort"):
        return "write PrioritySort instead, and enable Coscheduling at preEnqueue"
    since = plugins.PLUGINS[plugin]
    have = [each for each in plugins.ORDER if plugins.implements(plugin, each, versions.RELEASES.newest)]
    return f"delete it there: {plugin} (since {since.major}.{since.minor}) runs at {', '.join(have)}"


def _queue_sort(configuration: Configuration, reading: Releases) -> Iterator[Problem]:
    """All profiles share one queue, which exactly one plugin must sort."""
    first: tuple[str, str] | None = None
    for profile in configuration.profiles:
        point = profile.point("queueSort")
        default = (PRIORITY_SORT,) if profile.runs_by_default(PRIORITY_SORT, "queueSort") else ()
        sorts = tuple(dict.fromkeys((*default, *point.names)))
        path = (*profile.path, "plugins", "queueSort")
        if not sorts:
            by = (
                "queueSort disables every plugin and"
                if point.disabled
                else "multiPoint disables every plugin, queueSort"
            )
            plugin = PRIORITY_SORT if reading[0] >= versions.PRE_ENQUEUE else COSCHEDULING
            yield problem(
                path,
                f"{by} enables none",
                NO_START,
                "enable exactly one: PrioritySort, from Koordinator 1.7 on",
                key=True,
                repair=Repair(f"enable {plugin}, as the chart does", tuple(_sorted_by(profile, plugin))),
            )
        elif len(sorts) > 1:
            message = f"queueSort has {' and '.join(sorts)}, but only one plugin may sort the queue"
            yield problem(path, message, NO_START, 'disable "*" there, and enable one plugin', key=True)
        elif first and first[1] != sorts[0]:
            yield problem(
                path,
                f"queueSort is {sorts[0]}, but {first[1]} in profile {first[0]}",
                NO_START,
                "use the same queueSort plugin in all profiles: they share one queue",
                key=True,
            )
        elif first is None:
            first = (profile.name, sorts[0])


def _sorted_by(profile: Profile, plugin: str) -> Iterator[Patch]:
    yield Patch("add", (*profile.path, "plugins", "queueSort", "enabled", APPEND), {"name": plugin})
    gangs = profile.point("permit").plugin(COSCHEDULING)
    if plugin == PRIORITY_SORT and gangs and not profile.point("preEnqueue").plugin(COSCHEDULING):
        path = (*profile.path, "plugins", "preEnqueue", "enabled", APPEND)
        yield Patch("add", path, {"name": COSCHEDULING})


def _split_profiles(profiles: tuple[Profile, ...]) -> Iterator[Problem]:
    """Profiles split by an extra dash: the name is in one profile, its plugins in the next."""
    for one, other in pairwise(profiles):
        if set(one.data) == {"schedulerName"} and "schedulerName" not in other.data and other.data:
            yield problem(
                (*one.path, "schedulerName"),
                f"profile {one.name} is empty, and the next profile has no schedulerName",
                "the settings apply to default-scheduler",
                "if both are one profile, delete the second dash",
                repair=_joined(one, other) if one.name and len(profiles) == 2 else None,
            )


def _unnamed_profiles(profiles: tuple[Profile, ...]) -> Iterator[Problem]:
    """Profiles without a name. Only a single profile gets a default name, which is not koord-scheduler.

    Source: `SetDefaults_KubeSchedulerConfiguration` and its validation (Kubernetes v1.36).
    """
    for profile in profiles:
        name = profile.data.get("schedulerName")
        if name or not profile.data:
            continue
        if name == "" or len(profiles) > 1:
            message = (
                "schedulerName is empty"
                if name == ""
                else f"one of {len(profiles)} profiles has no schedulerName"
            )
            path = (*profile.path, "schedulerName") if name == "" else profile.path
            yield problem(path, message, NO_START, "name each profile: koord-scheduler")
        else:
            yield problem(
                profile.path,
                "the profile has no schedulerName",
                "it places pods of default-scheduler, and none that name koord-scheduler",
                "write schedulerName: koord-scheduler",
                Severity.WARNING,
            )


def _joined(one: Profile, other: Profile) -> Repair:
    patches = (Patch("add", (*other.path, "schedulerName"), one.name), Patch("remove", one.path))
    return Repair("join the two profiles", patches, certain=False)


def arguments(profile: Profile, reading: Releases) -> Iterator[Problem]:
    """Problems in the args of Koordinator's plugins, and args of plugins that do not run."""
    for plugin in SCORERS:
        yield from _unused_args(profile, plugin)
    seen: set[str] = set()
    for args in profile.args:
        base = (*profile.path, *args.path)
        if args.plugin in plugins.PLUGINS and args.plugin in seen:
            message = f"pluginConfig has two entries for {args.plugin}"
            yield problem((*base[:-1], "name"), message, NO_START, "merge them into one")
        seen.add(args.plugin)
        for found in plugin_args.problems(args.plugin, args.data, reading):
            if found.kind == REFUSED_VALUE and not profile.enables(args.plugin):
                effect = f"{NO_START} once {args.plugin} is enabled"
                message = found.message.replace(NO_START, effect)
                found = found._replace(message=message, severity=Severity.WARNING)
            yield found.below(base)
        for found in _mistyped(args.plugin, args.data):
            yield found.below(base)
        for found in plugin_args.misnamed_resources(args.plugin, args.data, reading):
            yield found.below(base)


def _mistyped(plugin: str, args: Mapping[str, object]) -> Iterator[Problem]:
    """Values that cannot be decoded, whether the plugin is enabled or not."""
    for name in fields.FIELDS.get(plugin, ()):
        value, kind = args.get(name), fields.TYPES.get(name, "")
        if value is None or not kind or is_placeholder(value) or type(value) is _PYTHON[kind]:
            continue
        if kind == "integer" and isinstance(value, float) and value.is_integer():
            continue
        yield problem(
            (name,),
            f"{name} of {plugin} must be {expected(kind)}, but is {described(value)}",
            NO_START,
            conversion_hint(kind, value) or f"write {expected(kind)}",
        )


def _unused_args(profile: Profile, plugin: str) -> Iterator[Problem]:
    """A plugin enabled without resources, or args of a plugin that is not enabled."""
    points = (profile.point(point).plugin(plugin) for point in ("score", MULTI_POINT))
    enabled = next((entry for entry in points if entry), None)
    args = profile.entry(plugin)
    if enabled and not (args and args.data.get("resources")):
        path: Path = (*enabled.path, "name")
        if args:
            path = args.path if args.data else (*args.path[:-1], "name")
        yield problem(
            (*profile.path, *path),
            f"{plugin} is enabled, but its args have no resources",
            "it scores every node 100, so it decides nothing",
            f"add resources to the args of {plugin} in pluginConfig",
        )
    if args and args.data and not profile.runs(plugin, "score"):
        yield problem(
            (*profile.path, *args.path),
            f"{plugin} has args, but is not enabled at score",
            "they have no effect",
            "enable it at preScore and at score",
            key=True,
        )


def plugin_order(profile: Profile) -> Iterator[Problem]:
    """Reservation after other plugins, and profiles without a plugin that binds."""
    for name in RESERVATION_FIRST:
        enabled = profile.point(name).enabled
        for plugin in enabled[1:]:
            if plugin.name == RESERVATION:
                path = (*profile.path, *plugin.path)
                entry = Patch("add", (*path[:-1], 0), {"name": RESERVATION})
                yield problem(
                    (*path, "name"),
                    f"Reservation must be the first plugin at {name}, but {enabled[0].name} is",
                    "",
                    "move it to the top of the list",
                    # Koordinator's own kustomize files have it last at reserve.
                    Severity.WARNING if name == "reserve" else None,
                    repair=Repair("move it to the top", (Patch("remove", path), entry)),
                )
    yield from _no_binder(profile)


def _no_binder(profile: Profile) -> Iterator[Problem]:
    listed = {name for point in ("bind", MULTI_POINT) for name in profile.point(point).names}
    other = any(name not in plugins.PLUGINS and name not in IN_TREE for name in listed)  # it may bind pods
    if other or BINDER in profile.point("bind").names or profile.runs_by_default(BINDER, "bind"):
        return
    for point in ("bind", MULTI_POINT):
        disabled = [each for each in profile.point(point).disabled if each.name in ("*", BINDER)]
        if disabled:
            path = (*profile.path, "plugins", "bind", "enabled", APPEND)
            yield problem(
                (*profile.path, *disabled[0].path, "name"),
                f"{point} disables DefaultBinder and no other binder is enabled",
                "no pod is bound",
                "enable DefaultBinder at bind, after Reservation",
                repair=Repair("enable DefaultBinder at bind", (Patch("add", path, {"name": BINDER}),)),
            )
            return


def disabled_scores(profile: Profile) -> Iterator[Problem]:
    """Every plugin disabled at score, including those that honour the preferences of pods."""
    point = profile.point("score")
    lost = {plugin: preference for plugin, preference in PREFERENCES.items() if plugin not in point.names}
    for plugin in point.disabled if lost else ():
        if plugin.name == "*":
            yield problem(
                (*profile.path, *plugin.path, "name"),
                "score disables every plugin",
                f"{', '.join(lost.values())} no longer count",
                f"disable only the plugins you mean, or enable {', '.join(lost)} again",
                Severity.WARNING,
            )


def unprepared_scores(profile: Profile, reading: Releases) -> Iterator[Problem]:
    """Plugins enabled at score but not at preScore, although their Score needs what PreScore writes."""
    for plugin in _scored_alone(profile):
        if any(plugins.implements(plugin.name, "score", each) for each in reading):
            path = (*profile.path, "plugins", "preScore", "enabled", APPEND)
            yield problem(
                (*profile.path, *plugin.path, "name"),
                f"{plugin.name} runs at score but not at preScore",
                "every pod that fits on two or more nodes fails",
                "enable it at preScore too",
                repair=Repair("enable it at preScore", (Patch("add", path, {"name": plugin.name}),)),
            )


def _scored_alone(profile: Profile) -> Iterable[Plugin]:
    for point in ("score", MULTI_POINT):
        for plugin in profile.point(point).enabled:
            scores = plugin.name in SCORERS and (point == "score" or profile.runs(plugin.name, "score"))
            if scores and not profile.runs(plugin.name, "preScore"):
                yield plugin
