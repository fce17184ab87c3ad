"""What a policy says of Volcano's scheduler, held against what that release takes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from policykit.catalogue.volcano.actions import ACTIONS, METRICS
from policykit.catalogue.volcano.argument import Argument, Mistake, Release, mistakes, outside, unknown
from policykit.catalogue.volcano.flags import FLAGS, HIERARCHY
from policykit.catalogue.volcano.plugins import PLUGINS, Plugin
from policykit.manifests.path import Path

_SWITCHES = ("GPUSharingEnable", "GPUNumberEnable", "VGPUEnable")
"""Of deviceshare: with two of them on, the scheduler exits."""
_RIVALS = (
    ("preempt", "gangpreempt"),
    ("preempt", "gangreclaim"),
    ("reclaim", "gangpreempt"),
    ("reclaim", "gangreclaim"),
)


def options_mistakes(options: Mapping[str, Any], have: Release | None) -> Iterator[Mistake]:
    """Of `actions`, `plugins`, `metrics`, `configurations` and `vgpu`, with paths below the target.

    `have` is the release installed; None: the newest.
    """
    actions = options.get("actions")
    if actions is not None:
        yield from _actions(actions, have)
    for name, plugin in options.get("plugins", {}).items():
        yield from _plugin(name, plugin, have)
    for key, value in options.get("metrics", {}).items():
        yield from _argument(value, key, METRICS, {}, "metrics key", ("metrics", key), have)
    for name, arguments in options.get("configurations", {}).items():
        yield from _configuration(name, arguments, have)
    if options.get("vgpu"):
        yield from outside("plugin deviceshare", PLUGINS["deviceshare"].since, (), ("vgpu",), have)


def _actions(names: Sequence[str], have: Release | None) -> Iterator[Mistake]:
    for index, name in enumerate(names):
        path = ("actions", index)
        if name not in ACTIONS:
            yield unknown("action", name, tuple(ACTIONS), path)
        elif name in names[:index]:
            yield Mistake(path, f"action {name} is listed twice", "list it once")
        else:
            yield from outside(f"action {name}", ACTIONS[name].since, (), path, have)
    if "allocate" not in names:
        yield Mistake(("actions",), "actions without allocate place no pod", "add allocate")
    for one, other in _RIVALS:
        if one in names and other in names:
            yield Mistake(
                ("actions", names.index(other)),
                f"action {other} must not stand beside {one}: both evict, each by rules of its own",
                "keep preempt and reclaim, or gangpreempt and gangreclaim",
            )
    held = [name for name in ("preempt", "reclaim") if name in names]
    if "enqueue" in names and held:
        yield Mistake(
            ("actions", names.index("enqueue")),
            f"action enqueue keeps waiting jobs from {' and '.join(held)}: those see admitted jobs only",
            "take enqueue out: allocate admits jobs itself then",
        )


def _plugin(name: str, stated: Mapping[str, Any], have: Release | None) -> Iterator[Mistake]:
    path: Path = ("plugins", name)
    plugin = PLUGINS.get(name)
    if plugin is None:
        yield unknown("plugin", name, tuple(PLUGINS), path)
        return
    if stated.get("enabled", True):
        yield from outside(f"plugin {name}", plugin.since, (), path, have)
    for flag in stated.get("flags", {}):
        yield from _flag(name, flag, (*path, "flags", flag), have)
    arguments = stated.get("arguments", {})
    yield from _arguments(name, plugin, arguments, (*path, "arguments"), have)
    if name == "deviceshare":
        yield from _exclusive(arguments, (*path, "arguments"))


def _flag(plugin: str, flag: str, path: Path, have: Release | None) -> Iterator[Mistake]:
    if flag not in FLAGS:
        yield unknown("flag", flag, tuple(FLAGS), path)
    elif flag == "enableHierarchy" and plugin not in HIERARCHY:
        yield Mistake(
            path, f"plugin {plugin} does not read enableHierarchy", f"{_and(HIERARCHY)} do", key=True
        )
    else:
        since = HIERARCHY[plugin] if flag == "enableHierarchy" else FLAGS[flag]
        yield from outside(f"flag {flag} of plugin {plugin}", since, (), path, have)


def _and(names: Mapping[str, Release]) -> str:
    return ", ".join(names)


def _arguments(
    name: str, plugin: Plugin, arguments: Mapping[str, Any], path: Path, have: Release | None
) -> Iterator[Mistake]:
    for key, value in arguments.items():
        yield from _argument(
            value,
            key,
            plugin.arguments,
            plugin.prefixed,
            f"argument of plugin {name}:",
            (*path, key),
            have,
        )


def _configuration(name: str, arguments: Mapping[str, Any], have: Release | None) -> Iterator[Mistake]:
    path: Path = ("configurations", name)
    if name not in ACTIONS:
        yield unknown("action", name, tuple(ACTIONS), path)
        return
    action = ACTIONS[name]
    yield from outside(f"action {name}", action.since, (), path, have)
    for key, value in arguments.items():
        what = f"argument of action {name}:"
        yield from _argument(value, key, action.arguments, {}, what, (*path, key), have)


def _argument(
    value: object,
    key: str,
    known: Mapping[str, Argument],
    prefixed: Mapping[str, Argument],
    what: str,
    path: Path,
    have: Release | None,
) -> Iterator[Mistake]:
    argument = known.get(key) or next(
        (argument for prefix, argument in prefixed.items() if key.startswith(prefix) and key != prefix), None
    )
    if argument is None:
        yield unknown(what, key, tuple(known), path)
        return
    late = list(outside(f"{what} {key}", argument.since, argument.gone, path, have))
    yield from late or mistakes(value, argument, path, have)


def _exclusive(arguments: Mapping[str, Any], path: Path) -> Iterator[Mistake]:
    on = [key for name in _SWITCHES if arguments.get(key := f"deviceshare.{name}") is True]
    if len(on) > 1:
        yield Mistake(
            (*path, on[1]),
            f"{on[0]} and {on[1]} cannot both be true: the scheduler exits",
            "keep one of them",
        )
