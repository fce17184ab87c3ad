"""What keeps koord-scheduler from starting with a configuration: versions, kinds, points, profiles."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from itertools import pairwise
from typing import Any

from policykit.kube.structure.scalars import is_placeholder
from policykit.linter.rule import Fix, Violation
from policykit.manifests.patch import Patch
from policykit.manifests.path import Path
from policykit.manifests.shape import text
from policykit.targets.koordinator import versions
from policykit.targets.koordinator.checks import releases, whose
from policykit.targets.koordinator.checks.outdated import newer
from policykit.targets.koordinator.scheduler import config, points
from policykit.targets.koordinator.scheduler.args import kind_of
from policykit.targets.koordinator.versions import GROUP
from policykit.targets.release import Version

Releases = tuple[Version, ...]
_POINTS = frozenset({*points.ORDER, "multiPoint"})
"""Any other is a matter of PK802."""
_SCORERS = (config.FIT_PLUS, config.SCARCE)
_SORT = "PrioritySort"
_SLIP = "did you mean one profile? Delete the second dash, so that the name stands beside its plugins"


def outer_version(data: Mapping[str, Any], possible: Releases) -> Iterator[Violation]:
    """The apiVersion of the whole file, and of NodeResourcesFitPlus and its like in it (C1, C3)."""
    stated = data.get("apiVersion")
    if stated is None or is_placeholder(stated):
        return
    fix = partial(_rewritten, data, possible[-1])
    if not any(releases.starts_with(stated, each) for each in possible):
        group, _, outer = str(stated).partition("/")
        read = group == GROUP and any(outer in versions.decodes(each).outer for each in possible)
        what = "knows no args of its own plugins" if read else "reads no configuration"
        yield Violation(
            ("apiVersion",),
            f"{releases.named(possible)} {what} of apiVersion {stated}: koord-scheduler stops at start",
            f"write {_newest(possible[-1])}",
            fix=fix,
        )
        return
    readers = releases.starting(data, possible)
    late = newer(data, readers, possible)
    if late:
        yield Violation(
            ("apiVersion",),
            f"{releases.named(readers)} reads apiVersion {stated}, and has no {late.what} (since "
            f"{late.since}): no koord-scheduler starts with this configuration",
            f"write {_newest(possible[-1])}",
            fix=fix,
        )
        return
    outer = str(stated).partition("/")[2]
    for path, profile in whose.profiles(data):
        for place, plugin in _enabled(profile):
            if plugin in _SCORERS and not any(
                outer in versions.decodes(each).fit_plus
                for each in possible
                if releases.starts_with(stated, each)
            ):
                have = next(each for each in possible if releases.starts_with(stated, each))
                if points.PLUGINS[plugin] > have:
                    continue  # said of the point
                yield Violation(
                    (*path, *place, "name"),
                    f"koord-scheduler {have} has no {plugin}Args in {stated} and stops at start",
                    f"set the scheduler's image tag to v1.6.1, or write the configuration in {GROUP}/v1beta3",
                )
                return


def inner_versions(data: Mapping[str, Any], possible: Releases) -> Iterator[Violation]:
    """apiVersion and kind of the args of Koordinator's plugins (C1)."""
    for path, profile in whose.profiles(data):
        for place, plugin, args in whose.arguments(profile):
            if plugin not in points.PLUGINS:
                continue
            where = (*path, *place)
            right, kind = kind_of(plugin), args.get("kind")
            if isinstance(kind, str) and kind != right and not is_placeholder(kind):
                yield Violation(
                    (*where, "kind"),
                    f"args of {plugin} have kind {kind}, not {right}: koord-scheduler stops at start",
                    f"write {right}, or delete the line",
                    fix=partial(_replaced, (*where, "kind"), right),
                )
            version = args.get("apiVersion")
            if not isinstance(version, str) or is_placeholder(version):
                continue
            if not any(releases.starts_with(version, each) for each in possible):
                outer = text(data.get("apiVersion"))
                yield Violation(
                    (*where, "apiVersion"),
                    f"args of {plugin} have apiVersion {version}, which {releases.named(possible)} does not "
                    "know: koord-scheduler stops at start",
                    f"write {outer}, as at the top, or delete the line",
                    fix=partial(_replaced, (*where, "apiVersion"), outer),
                )


def misplaced(data: Mapping[str, Any], possible: Releases) -> Iterator[Violation]:
    """Plugins at points that they do not implement, or twice at one (C5)."""
    for path, profile in whose.profiles(data):
        for point in filter(_POINTS.__contains__, whose.points(profile)):
            seen: set[str] = set()
            for place, plugin in whose.entries(profile, point):
                where = (*path, *place)
                if plugin in seen:
                    yield Violation(
                        (*where, "name"),
                        f"{plugin} is enabled twice at {point}: koord-scheduler stops at start",
                        "delete one of the two",
                        fix=partial(_removed, where, plugin),
                    )
                elif not any(points.implements(plugin, point, each) is not False for each in possible):
                    yield Violation(
                        (*where, "name"),
                        f"{plugin} is no {point} plugin in {releases.named(possible)}: "
                        "koord-scheduler stops at start",
                        _instead(plugin, point),
                        fix=partial(_removed, where, plugin) if point != "queueSort" else None,
                    )
                seen.add(plugin)


def queue_sorts(data: Mapping[str, Any]) -> Iterator[Violation]:
    """Not exactly one plugin that sorts the queue, or another one in another profile (C5)."""
    first: tuple[str, str] | None = None
    for path, profile in whose.profiles(data):
        listed = [name for _, name in whose.entries(profile, "queueSort")]
        default = [_SORT] if whose.runs_by_default(profile, "queueSort", _SORT) else []
        sorts = list(dict.fromkeys([*default, *listed]))
        where = (*path, "plugins", "queueSort")
        if not sorts:
            here = any(whose.entries(profile, "queueSort", "disabled"))
            says = (
                "queueSort disables every plugin and"
                if here
                else "multiPoint disables every plugin, queueSort"
            )
            yield Violation(
                where,
                f"{says} enables none: koord-scheduler stops at start",
                "enable exactly one, PrioritySort from Koordinator 1.7 on",
                key=True,
            )
        elif len(sorts) > 1:
            yield Violation(
                where,
                f"queueSort has {' and '.join(sorts)}, but exactly one may sort: "
                "koord-scheduler stops at start",
                'disable "*" there, and enable one',
                key=True,
            )
        elif first and first[1] != sorts[0]:
            yield Violation(
                where,
                f"queueSort is {sorts[0]}, but {first[1]} in profile {first[0]}: "
                "koord-scheduler stops at start",
                "give all profiles the same queueSort: they share one queue",
                key=True,
            )
        if len(sorts) == 1 and first is None:
            first = (text(profile.get("schedulerName")) or "default-scheduler", sorts[0])


def split_profiles(data: Mapping[str, Any]) -> Iterator[Violation]:
    """A dash too many: the name stands in one profile, its plugins in the next (C8)."""
    found = list(whose.profiles(data))
    for (path, one), (_, other) in pairwise(found):
        if set(one) == {"schedulerName"} and "schedulerName" not in other and other:
            name = text(one["schedulerName"])
            yield Violation(
                (*path, "schedulerName"),
                f"profile {name} sets nothing, and the next one, which has no schedulerName, is for "
                "default-scheduler",
                _SLIP,
                fix=partial(_joined, found, path, name) if name and len(found) == 2 else None,
            )


def _enabled(profile: Mapping[str, Any]) -> Iterable[tuple[Path, str]]:
    for point in whose.points(profile):
        yield from whose.entries(profile, point)


def _instead(plugin: str, point: str) -> str:
    if plugin in points.GONE:
        return "delete it: no release from 1.3 on has it"
    if (plugin, point) == ("Coscheduling", "queueSort"):
        return "write PrioritySort there, and Coscheduling at preEnqueue"
    since = points.PLUGINS[plugin]
    have = [each for each in points.ORDER if points.implements(plugin, each, releases.KNOWN[-1])]
    return f"delete it there: {plugin} (since {since.major}.{since.minor}) runs at {', '.join(have)}"


def _newest(version: Version) -> str:
    known = versions.decodes(version)
    return f"{GROUP}/{(known.fit_plus or known.args)[-1]}"


def _rewritten(data: Mapping[str, Any], version: Version) -> Fix | None:
    """None where fields stand at the top that only the old version has."""
    newest = _newest(version)
    if data.keys() & {"healthzBindAddress", "metricsBindAddress"}:
        return None
    patches = [Patch("replace", ("apiVersion",), newest)]
    for path, profile in whose.profiles(data):
        for place, _, args in whose.arguments(profile):
            written = args.get("apiVersion")
            if isinstance(written, str) and written != newest:
                patches.append(Patch("replace", (*path, *place, "apiVersion"), newest))
    return Fix(f"write {newest}, in the args too", tuple(patches))


def _replaced(path: Path, value: str) -> Fix:
    return Fix(f"write {value}", (Patch("replace", path, value),))


def _removed(path: Path, plugin: str) -> Fix:
    return Fix(f"delete {plugin} there", (Patch("remove", path),))


def _joined(found: list[tuple[Path, Mapping[str, Any]]], path: Path, name: str) -> Fix:
    _, (after, _) = found
    return Fix(
        "make one profile of the two",
        (Patch("add", (*after, "schedulerName"), name), Patch("remove", path)),
    )
