"""Keys of a configuration that stand where nothing reads them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from policykit.catalogue.volcano.argument_values import argument_of
from policykit.catalogue.volcano.configuration import configured_actions, plugin_items
from policykit.catalogue.volcano.options import flag_problems
from policykit.catalogue.volcano.plugins import FLAGS, PLUGINS
from policykit.catalogue.volcano.wording import Release
from policykit.linter.rule import Fix, Violation, violation_of
from policykit.manifests.patch import Move, Patch
from policykit.manifests.path import Path
from policykit.manifests.shape import mapping, text
from policykit.model.severity import Applicability, Severity
from policykit.nearest import nearest

_ROOT = ("actions", "tiers", "configurations", "metrics")
_TIER = ("plugins",)
_ITEM = ("name", "arguments")
"""Keys of a plugin beside its flags, and of an item of configurations."""


def misplaced_keys(data: Mapping[str, Any], have: Release | None, *, whole: bool) -> Iterator[Violation]:
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


def _rename(path: Path, wanted: str) -> Fix:
    return Fix(f"write {wanted}", (Patch("rename", path, wanted),), Applicability.UNSAFE)


def _beside_name(
    name: str, plugin: Mapping[str, Any], path: Path, have: Release | None
) -> Iterator[Violation]:
    """Flags stand there, and nothing else."""
    for key in _others(plugin, _ITEM):
        if key in FLAGS:
            for problem in flag_problems(name, key, (*path, key), have):
                yield violation_of(problem)
        elif argument_of(name, key):
            yield Violation(
                (*path, key),
                f"{key} of plugin {name} is beside arguments instead of under it: it is ignored",
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
        return Violation(path, message, "arguments belong under arguments, flags beside the name", key=True)
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
                "it is a flag: write it beside the name",
                key=True,
                fix=None if key in plugin else partial(_move, path, ("arguments", key), (key,)),
            )


def _move(path: Path, old: Path, new: Path) -> Fix:
    where = "under arguments" if len(new) > 1 else "beside the name"
    return Fix(f"move {old[-1]} {where}", (Patch("move", path, Move(old, new)),), Applicability.UNSAFE)
