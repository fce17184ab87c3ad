"""A given koord-scheduler-config: found in a text, changed line by line, and repaired for a release."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial, reduce
from typing import Any

from policykit.errors import PolicykitError
from policykit.manifests.document_edits import apply
from policykit.manifests.edit import read as read_documents
from policykit.manifests.embedded import apply_inside, embedded, kinds, strings
from policykit.manifests.node import Node
from policykit.manifests.patch import APPEND, EditError, Patch, differences, patched
from policykit.manifests.path import Path, lookup
from policykit.manifests.problem import Problem
from policykit.model.release import Version
from policykit.namedtuple import NamedTuple
from policykit.targets.koordinator.scheduler import configuration, validator
from policykit.targets.koordinator.scheduler.configuration import (
    KIND,
    Plugin,
    Profile,
    args_kind,
    read_profile,
)
from policykit.targets.koordinator.scheduler.plugins import (
    MULTI_POINT,
    PLUGINS,
    PRIORITY_SORT,
    RESERVATION,
    RESERVATION_FIRST,
)


class ConfigurationText(NamedTuple):
    """A scheduler configuration in a text: the document itself, or a string of a ConfigMap."""

    text: str
    document: int
    path: Path
    """Path of the string in its document; empty if the document is the configuration."""
    inner: str
    """The configuration's own text."""
    data: Mapping[str, Any]
    alone: bool
    """Whether the text has no other document."""


def read_source(text: str) -> ConfigurationText:
    """Finds the configuration. Raises PolicykitError unless there is exactly one."""
    try:
        roots = read_documents(text)
    except EditError as error:
        hint = "give the file as rendered (helm template), not the chart's template"
        # The reason would quote the text.
        what = error.message.partition(": ")[0]
        raise PolicykitError(f"koord-scheduler-config: {what}", hint, error.place) from error
    found = [source for number, root in enumerate(roots) if root for source in _sources(text, root, number)]
    if len(found) != 1:
        raise PolicykitError(
            f"the given koord-scheduler-config has {len(found)} documents of kind {KIND}",
            f"give one: a {KIND}, or the ConfigMap that contains it",
        )
    return found[0]._replace(alone=len(roots) == 1)


def _sources(text: str, root: Node, document: int) -> list[ConfigurationText]:
    if isinstance(root.data, dict) and root.data.get("kind") == KIND:
        return [ConfigurationText(text, document, (), text, root.data, False)]
    found = []
    for path, node in strings(root):
        if kinds(node.data) == {KIND}:
            inner = embedded(text, path, node).text
            inside = read_documents(inner)[0]
            if inside and path[0] == "data":
                found.append(ConfigurationText(text, document, path, inner, inside.data, False))
    return found


Step = Callable[[Profile], Iterable[Patch]]
"""What to change in a profile; paths are below the profile."""


def merge_patches(source: ConfigurationText, patches: Iterable[Patch]) -> str:
    """The text with the changes made. Raises PolicykitError if it cannot be edited in place."""
    if source.path:
        return apply_inside(source.text, source.path, patches, source.document)
    return apply(source.text, patches, source.document)


def apply_steps(profile: Profile, steps: Iterable[Step]) -> tuple[list[Patch], Profile]:
    """The changes of several steps, each applied after those before it, and the resulting profile."""
    found: list[Patch] = []
    for step in steps:
        for patch in list(step(profile)):
            found.append(patch)
            profile = read_profile(patched(profile.data, patch), profile.path)
    return found, profile


def below(base: Path, patches: Iterable[Patch]) -> tuple[Patch, ...]:
    """Changes of a profile as changes of the configuration that has it at `base`."""
    return tuple(patch._replace(path=(*base, *patch.path)) for patch in patches)


def set_args(plugin: str, fields: Mapping[str, Any], api_version: str) -> Step:
    """Sets these fields of a plugin's args and keeps all others."""
    return partial(_set_args, plugin, fields, api_version)


def enable(plugin: str, point: str, weight: int | None = None) -> Step:
    """Enables the plugin once at a point, after Reservation, with the weight."""
    return partial(_enable, plugin, point, weight)


def run_at(plugin: str, points: Iterable[str]) -> tuple[Step, ...]:
    """Enables the plugin at several points, and keeps its weights."""
    return tuple(partial(_run_at, plugin, point) for point in points)


def disable(plugin: str, point: str) -> Step:
    """Removes the plugin from a point, and disables it if it would run by default."""
    return partial(_disable, plugin, point)


def prepare(plugin: str) -> Step:
    """Enables an in-tree plugin at preScore, where it runs by default, if it is disabled there."""
    return partial(_prepare, plugin)


def _set_args(plugin: str, fields: Mapping[str, Any], api_version: str, profile: Profile) -> Iterator[Patch]:
    wanted = {"apiVersion": api_version, "kind": args_kind(plugin), **fields}
    entry = profile.entry(plugin)
    if entry is None:
        yield Patch("add", ("pluginConfig", APPEND), {"name": plugin, "args": wanted})
        return
    given = lookup(profile.data, entry.path)
    if not isinstance(given, dict):
        yield Patch("add", entry.path, wanted)
        return
    # apiVersion and kind may be left out, but must be correct if they are set.
    for key, value in wanted.items():
        if key in given:
            yield from differences(given[key], value, (*entry.path, key))
        elif key in fields:
            yield Patch("add", (*entry.path, key), value)


def _everywhere(profile: Profile, plugin: str, point: str) -> Plugin | None:
    """The entry at multiPoint that enables a plugin at a point too."""
    entry = profile.point(MULTI_POINT).plugin(plugin)
    return None if profile.point(point).disables(plugin) else entry


def _enable(plugin: str, point: str, weight: int | None, profile: Profile) -> Iterator[Patch]:
    entry: dict[str, Any] = {"name": plugin} if weight is None else {"name": plugin, "weight": weight}
    names = profile.point(point).names
    there = profile.point(point).plugin(plugin)
    if there and weight is None:
        if RESERVATION in names and names.index(plugin) < names.index(RESERVATION):
            yield Patch("remove", there.path)
            yield Patch("add", ("plugins", point, "enabled", APPEND), entry)
        return
    there = there or _everywhere(profile, plugin, point)
    if there is None:
        yield Patch("add", ("plugins", point, "enabled", APPEND), entry)
    elif weight is not None and there.weight != weight:
        yield Patch("add", (*there.path, "weight"), weight)


def _run_at(plugin: str, point: str, profile: Profile) -> Iterator[Patch]:
    """Reservation must come first at reserve and preScore; all others are added at the end."""
    given = profile.point(point)
    if given.plugin(plugin) or _everywhere(profile, plugin, point):
        return
    if point == "queueSort":
        # Exactly one may be enabled, and by default it is PrioritySort.
        if given.enabled:
            return
        if not given.disables(PRIORITY_SORT):
            yield Patch("add", ("plugins", point, "disabled", APPEND), {"name": "*"})
    first = plugin == RESERVATION and point in RESERVATION_FIRST and given.enabled
    yield Patch("add", ("plugins", point, "enabled", 0 if first else APPEND), {"name": plugin})


def _disable(plugin: str, point: str, profile: Profile) -> Iterator[Patch]:
    there = profile.point(point).plugin(plugin)
    if there:
        yield Patch("remove", there.path)
    # Koordinator's own plugins run only at points that enable them.
    by_default = plugin not in PLUGINS or profile.point(MULTI_POINT).plugin(plugin)
    if by_default and not profile.point(point).disables(plugin):
        yield Patch("add", ("plugins", point, "disabled", APPEND), {"name": plugin})


def _prepare(plugin: str, profile: Profile) -> Iterator[Patch]:
    point = profile.point("preScore")
    if point.disables(plugin) and not point.plugin(plugin):
        yield Patch("add", ("plugins", "preScore", "enabled", APPEND), {"name": plugin})


class RepairResult(NamedTuple):
    """Changes, and a notice for each."""

    patches: tuple[Patch, ...] = ()
    notices: tuple[str, ...] = ()


def repair(data: Mapping[str, Any], version: Version) -> RepairResult:
    """Fixes every problem that has a certain fix, one at a time: removing an entry moves those after it.

    Raises PolicykitError if the apiVersion cannot be changed.
    """
    patches: list[Patch] = []
    notices: list[str] = []
    while True:
        found = validator.problems(configuration.read(data), version)
        problem = next((each for each in found if _is_fixed(each)), None)
        if problem is None:
            return RepairResult(tuple(patches), tuple(dict.fromkeys(notices)))
        if problem.repair is None:
            raise PolicykitError(problem.message, problem.help)
        data = reduce(patched, problem.repair.patches, data)
        patches += problem.repair.patches
        notices.append(f"{problem.message}; gen had to {problem.repair.description}")


def _is_fixed(problem: Problem) -> bool:
    return problem.path == ("apiVersion",) or (problem.repair is not None and problem.repair.certain)


def remaining_problems(data: Mapping[str, Any], version: Version) -> tuple[str, ...]:
    """Problems in the written configuration that users must fix themselves."""
    found = validator.problems(configuration.read(data), version)
    return tuple(dict.fromkeys(f"{problem.message}. {problem.help}" for problem in found))
