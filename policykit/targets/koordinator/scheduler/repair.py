"""What keeps a given koord-scheduler-config from starting with a release, mended where that is certain."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any, NamedTuple

from policykit.catalogue.koordinator import fields
from policykit.errors import PolicykitError
from policykit.manifests.patch import APPEND, Patch, patched
from policykit.targets.koordinator import versions
from policykit.targets.koordinator.scheduler import args as plugin_args
from policykit.targets.koordinator.scheduler import config, configuration, points
from policykit.targets.koordinator.scheduler.config import FIRST
from policykit.targets.koordinator.versions import GROUP
from policykit.targets.release import Version

_ONLY_V1BETA2 = ("healthzBindAddress", "metricsBindAddress")
_SCORED_BY_NODE = {
    "TaintToleration": "PreferNoSchedule taints",
    "NodeAffinity": "preferred node affinity",
    "PodTopologySpread": "topology spread with ScheduleAnyway",
    "InterPodAffinity": "preferred pod affinity",
}


class Repair(NamedTuple):
    """Changes, and what is said of them and of what people must mend themselves."""

    patches: tuple[Patch, ...] = ()
    said: tuple[str, ...] = ()


def repaired(data: Mapping[str, Any], version: Version) -> Repair:
    """What to change in a configuration so that this release of koord-scheduler starts with it.

    Raises PolicykitError where its version cannot be rewritten.
    """
    found: list[Patch] = []
    said: list[str] = []
    for patch, why in _versions(data, version):
        found.append(patch)
        said.append(why)
    profiles = data.get("profiles")
    for position, profile in enumerate(profiles if isinstance(profiles, list) else ()):
        if not isinstance(profile, dict):
            continue
        for mend in (_kinds, _fields, _repeated, _points, _queue_sort, _reservation, _binder):
            for patch, why in mend(profile, version):
                # What is removed moves what follows: every change is made before the next is looked for.
                profile = patched(profile, patch)
                found.append(patch._replace(path=("profiles", position, *patch.path)))
                said.append(why)
        said.extend(_unmended(profile, version))
    said.extend(_split(profiles))
    return Repair(tuple(found), tuple(dict.fromkeys(why for why in said if why)))


Mend = tuple[Patch, str]
"""A change, and what is said of it; empty: the change before has said it."""


def _versions(data: Mapping[str, Any], version: Version) -> Iterator[Mend]:
    known = versions.decodes(version)
    stated = data.get("apiVersion")
    group, _, outer = stated.partition("/") if isinstance(stated, str) else ("", "", "")
    if group == GROUP and outer in known.args:
        return
    newest = f"{GROUP}/{(known.fit_plus or known.args)[-1]}"
    old = [field for field in _ONLY_V1BETA2 if field in data]
    if old and outer == "v1beta2":
        raise PolicykitError(
            f"koord-scheduler {version} reads no configuration of apiVersion {stated}, and {newest} has no "
            f"{', '.join(old)}",
            f"remove {', '.join(old)} from koord-scheduler-config",
        )
    read = outer in known.outer and group == GROUP
    what = "has no args of its own" if read else "reads no configuration"
    why = f"koord-scheduler {version} {what} of apiVersion {stated}: rewritten to {newest}"
    yield Patch("add", ("apiVersion",), newest), why
    profiles = data.get("profiles")
    for position, profile in enumerate(profiles if isinstance(profiles, list) else ()):
        given = profile.get("pluginConfig") if isinstance(profile, dict) else None
        for number, entry in enumerate(given if isinstance(given, list) else ()):
            args = entry.get("args") if isinstance(entry, dict) else None
            if isinstance(args, dict) and args.get("apiVersion", newest) != newest:
                place = ("profiles", position, "pluginConfig", number, "args", "apiVersion")
                yield Patch("replace", place, newest), ""


def _kinds(profile: Mapping[str, Any], version: Version) -> Iterator[Mend]:
    given = profile.get("pluginConfig")
    for number, entry in enumerate(given if isinstance(given, list) else ()):
        args = plugin_args.read(entry)
        right = plugin_args.kind_of(args.plugin) if args else ""
        if args and args.kind and args.kind != right:
            yield (
                Patch("replace", ("pluginConfig", number, "args", "kind"), right),
                f"args of {args.plugin} have kind {args.kind}, which stops the scheduler: written as {right}",
            )


def _fields(profile: Mapping[str, Any], version: Version) -> Iterator[Mend]:
    """Fields of a newer release; what no release has may be a slip, and is left to people."""
    given = profile.get("pluginConfig")
    for number, entry in enumerate(given if isinstance(given, list) else ()):
        args = plugin_args.read(entry)
        for field in args.fields if args else ():
            since = fields.since(args.plugin, field) if args else None
            if args and since and since > version:
                yield (
                    Patch("remove", ("pluginConfig", number, "args", field)),
                    f"args of {args.plugin} have no {field} before {fields.named(since)}, and Koordinator "
                    f"{version} stops at it: removed",
                )


def _repeated(profile: Mapping[str, Any], version: Version) -> Iterator[Mend]:
    plugins = profile.get("plugins")
    for point, given in plugins.items() if isinstance(plugins, dict) else ():
        entries = given.get("enabled") if isinstance(given, dict) else None
        listed = entries if isinstance(entries, list) else []
        names = [each.get("name") if isinstance(each, dict) else None for each in listed]
        for position in range(len(names) - 1, -1, -1):
            if names[position] and names[position] in names[:position]:
                place = ("plugins", point, "enabled", position)
                yield (
                    Patch("remove", place),
                    f"{names[position]} is enabled twice at {point}, which stops koord-scheduler: "
                    "the second is removed",
                )


def _points(profile: Mapping[str, Any], version: Version) -> Iterator[Mend]:
    plugins = profile.get("plugins")
    for point in plugins if isinstance(plugins, dict) else ():
        there = config.point(profile, point).enabled
        gone = [name for name in there if points.implements(name, point, version) is False]
        for plugin in gone:
            place = configuration.plugin_place(profile, point, plugin)
            if place:
                yield (
                    Patch("remove", place),
                    f"{plugin} is no {point} plugin in Koordinator {version}, which stops koord-scheduler: "
                    "removed there",
                )
                profile = patched(profile, Patch("remove", place))


def _queue_sort(profile: Mapping[str, Any], version: Version) -> Iterator[Mend]:
    there = config.point(profile, "queueSort")
    if there.enabled or "*" not in there.disabled:
        return
    plugin = "PrioritySort" if version >= versions.PRE_ENQUEUE else "Coscheduling"
    yield (
        Patch("add", ("plugins", "queueSort", "enabled", APPEND), {"name": plugin}),
        f"exactly one queueSort plugin must be enabled: {plugin} is, as in the chart of {version}",
    )
    gangs = configuration.plugin_place(profile, "permit", "Coscheduling")
    before = configuration.plugin_place(profile, "preEnqueue", "Coscheduling")
    if version >= versions.PRE_ENQUEUE and gangs and not before:
        yield Patch("add", ("plugins", "preEnqueue", "enabled", APPEND), {"name": "Coscheduling"}), ""


def _reservation(profile: Mapping[str, Any], version: Version) -> Iterator[Mend]:
    for point in sorted(points.RESERVATION_FIRST):
        names = list(config.point(profile, point).enabled)
        place = configuration.plugin_place(profile, point, FIRST)
        if place and names[0] != FIRST:
            yield Patch("remove", place), f"Reservation must be the first plugin at {point}: it is now"
            yield Patch("add", ("plugins", point, "enabled", 0), {"name": FIRST}), ""


def _binder(profile: Mapping[str, Any], version: Version) -> Iterator[Mend]:
    there = config.point(profile, "bind")
    if there.disables("DefaultBinder") and "DefaultBinder" not in there.enabled:
        yield (
            Patch("add", ("plugins", "bind", "enabled", APPEND), {"name": "DefaultBinder"}),
            "bind disables every plugin and enables no DefaultBinder, so no pod would be bound: it is now",
        )


def _unmended(profile: Mapping[str, Any], version: Version) -> Iterator[str]:
    given = profile.get("pluginConfig")
    for entry in given if isinstance(given, list) else ():
        args = plugin_args.read(entry)
        lacking = list(fields.unknown(args.plugin, args.fields, version)) if args else []
        if args and lacking:
            yield (
                f"args of {args.plugin} hold {', '.join(lacking)}, which Koordinator {version} does not know "
                "and stops at: remove them"
            )
    scores = config.point(profile, "score")
    silent = [said for name, said in _SCORED_BY_NODE.items() if name not in scores.enabled]
    if "*" in scores.disabled and silent:
        yield f"score disables every plugin, so {', '.join(silent)} no longer count: enable what should"


def _split(profiles: object) -> Iterator[str]:
    """A list item too many: the name stands in one profile, its plugins in the next."""
    given = [each for each in profiles if isinstance(each, dict)] if isinstance(profiles, list) else []
    for one, other in pairwise(given):
        if set(one) == {"schedulerName"} and "schedulerName" not in other:
            yield (
                f"profile {one['schedulerName']} sets nothing, and the next has no schedulerName: they "
                "are one profile if the dash before the second is a mistake"
            )
