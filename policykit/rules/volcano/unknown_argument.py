"""A Volcano configuration sets something that its scheduler does not read.

The file is decoded leniently: a misspelled argument, one that a release has dropped, and one
next to `arguments:` instead of under it are ignored silently, and the default applies.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from policykit.kube.placeholders import is_placeholder
from policykit.linter.rule import Context, Fix, Rule, Violation, violation_of
from policykit.manifests.document import Manifest
from policykit.manifests.patch import Move, Patch
from policykit.manifests.path import Path
from policykit.manifests.shape import mapping, text
from policykit.model.severity import Applicability, Severity
from policykit.nearest import nearest
from policykit.targets.volcano import versions
from policykit.targets.volcano.scheduler import arguments
from policykit.targets.volcano.scheduler.actions import ACTIONS, ASCEND_CONFIGURATIONS, Argument
from policykit.targets.volcano.scheduler.arguments import ArgumentValue, argument_of, flag_problems
from policykit.targets.volcano.scheduler.configuration import (
    configured_actions,
    is_of_fork,
    plugin_items,
    read,
)
from policykit.targets.volcano.scheduler.opposing_scores import RESOURCE_LISTS, listed_resources
from policykit.targets.volcano.scheduler.plugins import FLAGS, PLUGINS
from policykit.targets.volcano.versions import EXTRA, UPGRADE, Release, not_yet, release_text

BAD = """\
actions: "allocate, backfill"
tiers:
- plugins:
  - name: priority
  - name: gang
- plugins:
  - name: predicates
  - name: nodeorder
    arguments:
      leastrequest.weight: 0
"""

GOOD = BAD.replace("leastrequest.", "leastrequested.")

_INSTEAD = {
    "sla.JobWaitingTime": "sla-waiting-time",
    "numa-aware.weight": "weight",
    "thresholds.memory": "mem",
}
"""Spellings of old documents."""
_MOVED = {
    "predicate.GPUSharingEnable": "write deviceshare.GPUSharingEnable under plugin deviceshare",
    "predicate.GPUNumberEnable": "write deviceshare.GPUNumberEnable under plugin deviceshare",
    "predicate.NodeLockEnable": "write deviceshare.NodeLockEnable under plugin deviceshare",
    "predicate.VGPUEnable": "write deviceshare.VGPUEnable under plugin deviceshare",
    "predicate.ProportionalEnable": "write proportional.enable under plugin resource-strategy-fit",
    "predicate.DynamicResourceAllocationEnable": "the scheduler's feature gate DynamicResourceAllocation "
    "decides since 1.15",
}

_ROOT = ("actions", "tiers", "configurations", "metrics")
_TIER = ("plugins",)
_ITEM = ("name", "arguments")
"""Keys of a plugin beside its flags, and of an item of configurations."""


def check(manifest: Manifest, context: Context) -> Iterator[Violation]:
    """Keys of the file, its tiers, its plugins and their arguments, of metrics and configurations."""
    data, have = manifest.data, versions.release_of(context.cluster)
    yield from _misplaced_keys(data, have, whole=manifest.holder is not None)
    for value in arguments.of_file(data):
        if is_placeholder(value.key) or (value.key in FLAGS and not value.argument):
            continue
        if value.argument is not None:
            yield from _untimely(value, value.argument, have)
        elif value.name or not isinstance(value.value, (list, dict)):
            yield _unknown(value)
    yield from _unlisted(data)
    others = {*ASCEND_CONFIGURATIONS, *context.plugins}
    own = is_of_fork(manifest) or any(p.name not in PLUGINS for p in read(data).plugins)
    for path, name, _ in configured_actions(data):
        if name and name not in ACTIONS and name not in others and not is_placeholder(name):
            near = nearest(name.lower(), tuple(ACTIONS))
            yield Violation(
                (*path, "name"),
                f"configurations of {name!r} are ignored: Volcano has no such action",
                f"did you mean {near}?" if near else EXTRA if own else "name an action",
                Severity.WARNING if own and not near else None,
            )


def _unknown(value: ArgumentValue) -> Violation:
    message = f"{value.unknown}: it is ignored"
    if value.key in _MOVED:
        return Violation(value.path, message, _MOVED[value.key], key=True)
    wanted = _INSTEAD.get(value.field, "") or nearest(value.key, value.known, 0.75)
    if not wanted and value.name:
        wanted = next((known for known in value.known if known.rpartition(".")[2] == value.key), "")
    if not value.nested and (owner := _plugin_with(value.key)):
        return Violation(value.path, message, f"it is an argument of plugin {owner}", key=True)
    if wanted:
        fix = partial(_rename, value.path, wanted)
        return Violation(value.path, message, f"did you mean {wanted}?", key=True, fix=fix)
    advice = f"known names: {', '.join(sorted(value.known))}" if value.known else "it takes none"
    return Violation(value.path, message, advice, key=True)


def _plugin_with(key: str) -> str:
    """The only plugin that has such an argument; empty: none has, several have, or it is a plain word."""
    owners = [name for name in PLUGINS if argument_of(name, key)] if "." in key or "-" in key else []
    return owners[0] if len(owners) == 1 else ""


def _untimely(value: ArgumentValue, argument: Argument, have: Release | None) -> Iterator[Violation]:
    if message := not_yet(f"argument {value.label}", argument.since, have):
        yield Violation(value.path, message, UPGRADE, key=True)
    elif argument.gone and (have or versions.newest()) >= argument.gone:
        # Without a policy an older release may be there, which does read it.
        yield Violation(
            value.path,
            f"{value.owner} does not read {value.field} since Volcano {release_text(argument.gone)}",
            _MOVED.get(value.key, "remove it"),
            None if have else Severity.WARNING,
            key=True,
        )


def _rename(path: Path, wanted: str) -> Fix:
    return Fix(f"write {wanted}", (Patch("rename", path, wanted),), Applicability.UNSAFE)


def _unlisted(data: Mapping[str, Any]) -> Iterator[Violation]:
    """Weights of resources that the plugin's list leaves out. Source: `plugins/binpack` (1.8 to 1.15)."""
    for plugin in read(data).plugins:
        key = RESOURCE_LISTS.get(plugin.name)
        if key is None or is_placeholder(plugin.arguments.get(key)):
            continue
        listed, path = listed_resources(plugin), (*plugin.path, "arguments")
        for written in plugin.arguments:
            resource = written.removeprefix(f"{key}.") if isinstance(written, str) else ""
            if resource and resource != written and resource not in listed:
                plain = resource.removesuffix(".weight")
                misspelt = plain != resource and plain in listed and f"{key}.{plain}" not in plugin.arguments
                add = partial(_list, (*path, key), ", ".join((*filter(None, listed), resource)))
                yield Violation(
                    (*path, written),
                    f"plugin {plugin.name} ignores {written}: {key} does not list {resource}",
                    f"write {key}.{plain}" if misspelt else f"add {resource} to {key}",
                    key=True,
                    fix=partial(_rename, (*path, written), f"{key}.{plain}") if misspelt else add,
                )


def _list(path: Path, resources: str) -> Fix:
    return Fix(f"write {resources} as {path[-1]}", (Patch("add", path, resources),), Applicability.UNSAFE)


def _misplaced_keys(data: Mapping[str, Any], have: Release | None, *, whole: bool) -> Iterator[Violation]:
    """Every such key, from the outer to the inner. `whole`: the text can be nothing but a configuration."""
    if whole or "tiers" in data:
        yield from _unread(data, (), "the configuration", _ROOT)
    tiers = data.get("tiers")
    for number, tier in enumerate(tiers if isinstance(tiers, list) else ()):
        yield from _unread(mapping(tier), ("tiers", number), "a tier", _TIER)
    for path, item in plugin_items(data):
        plugin = mapping(item)
        if name := text(plugin.get("name")):
            yield from _beside_name(name, plugin, path, have)
            yield from _below_arguments(name, plugin, path)
    for path, _, entry in configured_actions(data):
        yield from _unread(entry, path, "an item of configurations", _ITEM)


def _others(data: Mapping[str, Any], known: tuple[str, ...]) -> list[str]:
    return [key for key in data if isinstance(key, str) and key not in known]


def _unread(data: Mapping[str, Any], path: Path, what: str, known: tuple[str, ...]) -> Iterator[Violation]:
    for key in _others(data, known):
        near = nearest(key.lower(), known, 0.7)
        yield Violation(
            (*path, key),
            f"{what} has no key {key}: it is ignored",
            f"did you mean {near}?" if near else f"known keys: {', '.join(known)}",
            None if near else Severity.WARNING,
            key=True,
            fix=partial(_rename, (*path, key), near) if near and near not in data else None,
        )


def _beside_name(
    name: str, plugin: Mapping[str, Any], path: Path, have: Release | None
) -> Iterator[Violation]:
    """Only flags are allowed there."""
    for key in _others(plugin, _ITEM):
        if key in FLAGS:
            for problem in flag_problems(name, key, (*path, key), have):
                yield violation_of(problem)
        elif argument_of(name, key):
            yield Violation(
                (*path, key),
                f"{key} of plugin {name} is next to arguments instead of under it: it is ignored",
                "indent it under arguments",
                key=True,
                fix=partial(_move, path, (key,), ("arguments", key)),
            )
        elif name in PLUGINS:
            yield _unknown_flag(name, plugin, (*path, key))


def _unknown_flag(name: str, plugin: Mapping[str, Any], path: Path) -> Violation:
    key = str(path[-1])
    near = _nearest_flag(key)
    message = f"plugin {name} has no flag {key}: it is ignored"
    if not near:
        return Violation(path, message, "arguments belong under arguments, flags next to the name", key=True)
    if near in plugin:
        return Violation(path, message, f"{near} is set too: delete this one", key=True)
    return Violation(path, message, f"did you mean {near}?", key=True, fix=partial(_rename, path, near))


def _nearest_flag(key: str) -> str:
    """Spellings of flags mix enable and enabled."""
    plain = {_plain(flag): flag for flag in FLAGS}
    return plain.get(_plain(key)) or nearest(key, (*FLAGS, "arguments"), 0.8)


def _plain(flag: str) -> str:
    return flag.lower().removeprefix("enabled").removeprefix("enable")


def _below_arguments(name: str, plugin: Mapping[str, Any], path: Path) -> Iterator[Violation]:
    """Flags among the arguments."""
    for key in mapping(plugin.get("arguments")):
        if key in FLAGS and not argument_of(name, key):
            yield Violation(
                (*path, "arguments", key),
                f"{key} of plugin {name} is under arguments: it is ignored",
                "it is a flag: write it next to the name",
                key=True,
                fix=None if key in plugin else partial(_move, path, ("arguments", key), (key,)),
            )


def _move(path: Path, old: Path, new: Path) -> Fix:
    where = "under arguments" if len(new) > 1 else "next to the name"
    return Fix(f"move {old[-1]} {where}", (Patch("move", path, Move(old, new)),), Applicability.UNSAFE)


RULE = Rule(
    code="PK503",
    name="unknown-argument",
    severity=Severity.ERROR,
    subject=Manifest,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    kinds=frozenset({"volcano-scheduler.conf"}),
    fix=Applicability.UNSAFE,
)
