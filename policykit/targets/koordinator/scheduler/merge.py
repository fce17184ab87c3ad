"""Our entries put into a given koord-scheduler-config, every other line kept."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any

from policykit.manifests.amend import apply
from policykit.manifests.embedded import apply_inside
from policykit.manifests.patch import APPEND, Patch, differences, patched
from policykit.manifests.path import Path
from policykit.targets.koordinator.scheduler import args as plugin_args
from policykit.targets.koordinator.scheduler import config, configuration, points
from policykit.targets.koordinator.scheduler.config import FIRST, Source

Step = Callable[[Mapping[str, Any]], Iterable[Patch]]
"""What to change in a profile, given as data; paths below the profile."""


def merged(source: Source, patches: Iterable[Patch]) -> str:
    """The given text with the changes made. Raises PolicykitError where it cannot be edited in place."""
    if source.path:
        return apply_inside(source.text, source.path, patches, source.document)
    return apply(source.text, patches, source.document)


def steps(profile: Mapping[str, Any], wanted: Iterable[Step]) -> tuple[list[Patch], Mapping[str, Any]]:
    """The changes of several steps, each seeing what the ones before it left, and the profile after."""
    found: list[Patch] = []
    for step in wanted:
        for patch in list(step(profile)):
            found.append(patch)
            profile = patched(profile, patch)
    return found, profile


def below(base: Path, patches: Iterable[Patch]) -> tuple[Patch, ...]:
    """Changes of a profile as changes of the configuration that holds it at `base`."""
    return tuple(patch._replace(path=(*base, *patch.path)) for patch in patches)


def setting(plugin: str, fields: Mapping[str, Any], api_version: str) -> Step:
    """Args of a plugin: these fields as they are given here, all others kept."""
    return partial(_args, plugin, fields, api_version)


def enabling(plugin: str, point: str, weight: int | None = None) -> Step:
    """The plugin enabled once at a point, behind Reservation, with the weight."""
    return partial(_enabled, plugin, point, weight)


def running(plugin: str, where: Iterable[str]) -> tuple[Step, ...]:
    """The plugin enabled at several points; a weight that stands there stays."""
    return tuple(partial(_present, plugin, point) for point in where)


def disabling(plugin: str, point: str) -> Step:
    """The plugin not enabled at a point, and disabled where it would be by default."""
    return partial(_disabled, plugin, point)


def _args(
    plugin: str, fields: Mapping[str, Any], api_version: str, profile: Mapping[str, Any]
) -> Iterator[Patch]:
    wanted = {"apiVersion": api_version, "kind": plugin_args.kind_of(plugin), **fields}
    here = configuration.args_place(profile, plugin)
    if here is None:
        entry = plugin_args.write(plugin_args.of(plugin, fields, api_version))
        yield Patch("add", ("pluginConfig", APPEND), entry)
        return
    given = profile["pluginConfig"][here[1]].get("args")
    if not isinstance(given, dict):
        yield Patch("add", here, wanted)
        return
    # apiVersion and kind may be left out; where they stand they must be right.
    for key, value in wanted.items():
        if key in given:
            yield from differences(given[key], value, (*here, key))
        elif key in fields:
            yield Patch("add", (*here, key), value)


def _enabled(plugin: str, point: str, weight: int | None, profile: Mapping[str, Any]) -> Iterator[Patch]:
    entry: dict[str, Any] = {"name": plugin} if weight is None else {"name": plugin, "weight": weight}
    names = list(config.point(profile, point).enabled)
    here: Path = ("plugins", point, "enabled")
    there = configuration.plugin_place(profile, point, plugin)
    if there:
        if weight is None and FIRST in names and names.index(plugin) < names.index(FIRST):
            yield Patch("remove", there)
            yield Patch("add", (*here, APPEND), entry)
        elif weight is not None and _stated_weight(profile, there) != weight:
            yield Patch("add", (*there, "weight"), weight)
        return
    everywhere = configuration.plugin_place(profile, "multiPoint", plugin)
    if everywhere and not config.point(profile, point).disables(plugin):
        if weight is not None and _stated_weight(profile, everywhere) != weight:
            yield Patch("add", (*everywhere, "weight"), weight)
        return
    yield Patch("add", (*here, APPEND), entry)


def _present(plugin: str, point: str, profile: Mapping[str, Any]) -> Iterator[Patch]:
    """Where Reservation runs in reserve and preScore it comes first, so what is added comes last."""
    if configuration.plugin_place(profile, point, plugin):
        return
    multi = configuration.plugin_place(profile, "multiPoint", plugin)
    if multi and not config.point(profile, point).disables(plugin):
        return
    there = config.point(profile, point).enabled
    if point == "queueSort":
        # Exactly one may be enabled, and by default it is PrioritySort.
        if there:
            return
        if not config.point(profile, point).disables("PrioritySort"):
            yield Patch("add", ("plugins", point, "disabled", APPEND), {"name": "*"})
    first = plugin == FIRST and point in points.RESERVATION_FIRST
    yield Patch("add", ("plugins", point, "enabled", 0 if first and there else APPEND), {"name": plugin})


def _disabled(plugin: str, point: str, profile: Mapping[str, Any]) -> Iterator[Patch]:
    there = configuration.plugin_place(profile, point, plugin)
    if there:
        yield Patch("remove", there)
    # What Koordinator brings runs only where it is enabled.
    by_default = plugin not in points.PLUGINS or configuration.plugin_place(profile, "multiPoint", plugin)
    if by_default and not config.point(profile, point).disables(plugin):
        yield Patch("add", ("plugins", point, "disabled", APPEND), {"name": plugin})


def _stated_weight(profile: Mapping[str, Any], place: Path) -> object:
    entry: Any = profile
    for step in place:
        entry = entry[step]
    return entry.get("weight")
