"""Keys of a configuration that stand where nothing reads them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from policykit.catalogue.volcano.argument import Release, release_text
from policykit.catalogue.volcano.flags import FLAGS, HIERARCHY
from policykit.catalogue.volcano.plugins import PLUGINS
from policykit.linter.rule import Fix, Violation
from policykit.manifests.patch import Move, Patch
from policykit.manifests.path import Path
from policykit.manifests.shape import mapping
from policykit.model.severity import Applicability, Severity
from policykit.nearest import nearest
from policykit.targets.volcano.checks.arguments import argument_of, configured
from policykit.targets.volcano.checks.listing import Listed, plugins

_ROOT = ("actions", "tiers", "configurations", "metrics")


def strange(data: Mapping[str, Any], have: Release | None, *, whole: bool) -> Iterator[Violation]:
    """Every such key, from the outer to the inner. `whole`: the text can be nothing but a configuration."""
    known = whole or "tiers" in data
    for key in _others(data, _ROOT):
        if known:
            yield _misspelt((key,), "a configuration", data, _ROOT)
    tiers = data.get("tiers")
    for number, tier in enumerate(tiers if isinstance(tiers, list) else ()):
        for key in _others(mapping(tier), ("plugins",)):
            yield _misspelt(("tiers", number, key), "a tier", mapping(tier), ("plugins",))
    for plugin in plugins(data).listed:
        yield from _beside(plugin, have)
        yield from _below(plugin)
    for path, _, item in configured(data):
        for key in _others(item, ("name", "arguments")):
            yield _misspelt((*path, key), "an item of configurations", item, ("name", "arguments"))


def _others(data: Mapping[str, Any], known: tuple[str, ...]) -> list[str]:
    return [key for key in data if isinstance(key, str) and key not in known]


def _misspelt(path: Path, what: str, beside: Mapping[str, Any], known: tuple[str, ...]) -> Violation:
    key = str(path[-1])
    near = nearest(key.lower(), known, 0.7)
    advice = f"did you mean {near}?" if near else f"known are {', '.join(known)}"
    fix = partial(_rename, path, near) if near and near not in beside else None
    severity = None if near else Severity.WARNING
    return Violation(path, f"{what} has no key {key}: it is not read", advice, severity, key=True, fix=fix)


def _rename(path: Path, wanted: str) -> Fix:
    return Fix(f"write {wanted}", (Patch("rename", path, wanted),), Applicability.UNSAFE)


def _beside(plugin: Listed, have: Release | None) -> Iterator[Violation]:
    """What stands beside the plugin's name: `arguments` and flags."""
    for key in _others(plugin.data, ("name", "arguments")):
        path = (*plugin.path, key)
        if key in FLAGS:
            yield from _flag(plugin, key, path, have)
        elif argument_of(plugin.name, key):
            yield Violation(
                path,
                f"{key} of plugin {plugin.name} stands beside arguments, not below: it is not read",
                "indent it by one step, below arguments",
                key=True,
                fix=partial(_move, plugin.path, (key,), ("arguments", key)),
            )
        elif plugin.name in PLUGINS:
            yield _strange_flag(plugin, key, path)


def _flag(plugin: Listed, key: str, path: Path, have: Release | None) -> Iterator[Violation]:
    since = FLAGS[key]
    if key == "enableHierarchy" and plugin.name in PLUGINS and plugin.name not in HIERARCHY:
        yield Violation(
            path,
            f"plugin {plugin.name} does not read enableHierarchy",
            f"{', '.join(HIERARCHY)} do",
            key=True,
        )
        return
    if key == "enableHierarchy":
        since = HIERARCHY.get(plugin.name, ())
    if have and since and have < since:
        yield Violation(
            path,
            f"plugin {plugin.name} reads {key} since {release_text(since)}, "
            f"and the policy has {release_text(have)}",
            "take it out, or install a newer release",
            key=True,
        )


def _strange_flag(plugin: Listed, key: str, path: Path) -> Violation:
    near = _flag_meant(key)
    message = f"plugin {plugin.name} has no flag {key}: it is not read"
    if near and near not in plugin.data:
        fix = partial(_rename, path, near)
        return Violation(path, message, f"did you mean {near}?", key=True, fix=fix)
    if near == "arguments" or near:
        return Violation(path, message, f"{near} stands there too: delete this one", key=True)
    return Violation(path, message, "arguments stand below arguments, flags beside the name", key=True)


def _flag_meant(key: str) -> str:
    """Spellings of flags mix enable and enabled."""
    plain = {_plain(flag): flag for flag in FLAGS}
    return plain.get(_plain(key)) or nearest(key, (*FLAGS, "arguments"), 0.8)


def _plain(flag: str) -> str:
    return flag.lower().removeprefix("enabled").removeprefix("enable")


def _below(plugin: Listed) -> Iterator[Violation]:
    """Flags among the arguments."""
    for key in plugin.arguments:
        if key in FLAGS and not argument_of(plugin.name, key):
            fix = partial(_move, plugin.path, ("arguments", key), (key,)) if key not in plugin.data else None
            yield Violation(
                (*plugin.path, "arguments", key),
                f"{key} of plugin {plugin.name} stands below arguments: it is not read",
                "it is a flag: write it beside the name",
                key=True,
                fix=fix,
            )


def _move(path: Path, old: Path, new: Path) -> Fix:
    where = "below arguments" if len(new) > 1 else "beside the name"
    return Fix(f"move {old[-1]} {where}", (Patch("move", path, Move(old, new)),), Applicability.UNSAFE)
