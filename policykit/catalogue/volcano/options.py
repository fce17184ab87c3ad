"""Checks a policy's options for Volcano's scheduler against the stated release."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from policykit.catalogue.volcano import argument_values, configuration, validator
from policykit.catalogue.volcano.actions import ACTIONS
from policykit.catalogue.volcano.argument import is_of_type
from policykit.catalogue.volcano.argument_values import ArgumentValue
from policykit.catalogue.volcano.plugins import FLAGS, HIERARCHY, PLUGINS
from policykit.catalogue.volcano.wording import UPGRADE, Release, not_yet, release_text, suggestion
from policykit.manifests.path import Path
from policykit.manifests.problem import Problem


def option_problems(options: Mapping[str, Any], have: Release | None) -> Iterator[Problem]:
    """Of `actions`, `plugins`, `metrics`, `configurations` and `vgpu`, with paths below the target.

    `have` is the release installed; None: the newest.
    """
    if options.get("actions") is not None:
        yield from _actions(options["actions"], have)
    for name, plugin in options.get("plugins", {}).items():
        yield from _plugin(name, plugin, have)
    for name in options.get("configurations", {}):
        yield from _action(name, ("configurations", name), have)
    for value in argument_values.of_options(options):
        yield from _value(value, have)
    yield from validator.device_modes(configuration.of_options(options))
    if options.get("vgpu"):
        yield from _since("plugin deviceshare", PLUGINS["deviceshare"].since, ("vgpu",), have)


def _actions(names: Sequence[str], have: Release | None) -> Iterator[Problem]:
    for index, name in enumerate(names):
        if name in names[:index]:
            yield Problem(("actions", index), f"action {name} is listed twice", "list it once")
        else:
            yield from _action(name, ("actions", index), have)
    yield from (each for each in validator.unplaced_pods(names) if each.severity is None)
    yield from validator.eviction_styles(names)
    yield from validator.blocked_by_enqueue(names)


def _action(name: str, path: Path, have: Release | None) -> Iterator[Problem]:
    if name in ACTIONS:
        yield from _since(f"action {name}", ACTIONS[name].since, path, have)
    else:
        advice = suggestion(name, ACTIONS, "actions")
        yield Problem(path, f"Volcano has no action {name!r}", advice, key=True)


def _plugin(name: str, stated: Mapping[str, Any], have: Release | None) -> Iterator[Problem]:
    path: Path = ("plugins", name)
    if name not in PLUGINS:
        advice = suggestion(name, PLUGINS, "plugins")
        yield Problem(path, f"Volcano has no plugin {name!r}", advice, key=True)
        return
    if stated.get("enabled", True):
        yield from _since(f"plugin {name}", PLUGINS[name].since, path, have)
    for flag in stated.get("flags", {}):
        yield from flag_problems(name, flag, (*path, "flags", flag), have)


def flag_problems(plugin: str, flag: str, path: Path, have: Release | None) -> Iterator[Problem]:
    """Reports a flag that the plugin or the release does not read."""
    if flag not in FLAGS:
        advice = suggestion(flag, FLAGS, "flags")
        yield Problem(path, f"plugin {plugin} has no flag {flag}", advice, key=True)
    elif flag != "enableHierarchy" or plugin not in PLUGINS:
        yield from _since(f"flag {flag} of plugin {plugin}", FLAGS[flag], path, have)
    elif plugin in HIERARCHY:
        yield from _since(f"flag {flag} of plugin {plugin}", HIERARCHY[plugin], path, have)
    else:
        message = f"plugin {plugin} does not read enableHierarchy"
        yield Problem(path, message, f"{', '.join(HIERARCHY)} do", key=True)


def _since(what: str, since: Release, path: Path, have: Release | None) -> Iterator[Problem]:
    if message := not_yet(what, since, have):
        yield Problem(path, message, UPGRADE, key=True)


def _value(value: ArgumentValue, have: Release | None) -> Iterator[Problem]:
    argument = value.argument
    if argument is None:
        yield Problem(value.path, value.unknown, suggestion(value.key, value.known), key=True)
        return
    what = f"argument {value.label}"
    if message := not_yet(what, argument.since, have):
        yield Problem(value.path, message, UPGRADE, key=True)
    elif argument.gone and (have is None or have >= argument.gone):
        message = f"{value.owner} does not read {value.field} since Volcano {release_text(argument.gone)}"
        yield Problem(value.path, message, "remove it", key=True)
    elif not is_of_type(value.value, argument.kind):
        yield Problem(value.path, value.wrong_type)
    elif message := value.out_of_range:
        yield Problem(value.path, message)
