"""Arguments set by a configuration or a policy, each with its definition, and checks of those of a policy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from policykit.manifests.path import Path, dotted
from policykit.manifests.problem import Problem
from policykit.manifests.shape import mapping
from policykit.namedtuple import NamedTuple
from policykit.targets.volcano.scheduler import configuration, validator
from policykit.targets.volcano.scheduler.actions import ACTIONS, METRICS, TYPES, Argument, is_of_type
from policykit.targets.volcano.scheduler.configuration import configured_actions, read
from policykit.targets.volcano.scheduler.plugins import FLAGS, HIERARCHY, PLUGINS
from policykit.targets.volcano.versions import UPGRADE, Release, not_yet, release_text, suggestion

_NO_PREFIXES: Mapping[str, Argument] = {}


class ArgumentValue(NamedTuple):
    """The value of an argument, or of a part of a map or list argument."""

    owner: str
    """plugin nodeorder, action preempt or metrics."""
    name: str
    """Of the plugin or action; empty for metrics."""
    base: Path
    """Of the arguments of the owner."""
    steps: Path
    """Path from the argument to the value."""
    value: Any
    argument: Argument | None
    """None if nothing reads it."""
    known: tuple[str, ...]
    """Names that are valid in its place."""

    @property
    def path(self) -> Path:
        return (*self.base, *self.steps)

    @property
    def key(self) -> str:
        return str(self.steps[-1])

    @property
    def top(self) -> str:
        """The argument, or the one that contains the part."""
        return str(self.steps[0])

    @property
    def nested(self) -> bool:
        return len(self.steps) > 1

    @property
    def field(self) -> str:
        """The argument in a message: its key, and for a part the path to it."""
        if not self.nested:
            return self.top
        below = dotted(self.steps[1:])
        return f"{self.top}{below}" if below.startswith("[") else f"{self.top}.{below}"

    @property
    def label(self) -> str:
        return f"{self.field} of {self.owner}"

    @property
    def unknown(self) -> str:
        """The message for a value that nothing reads."""
        what = "argument" if self.name and not self.nested else "key"
        return f"{self.owner} has no {what} {self.field}"

    @property
    def wrong_type(self) -> str:
        """The message for a value of the wrong type."""
        wanted = TYPES[self.argument.kind] if self.argument else ""
        return f"{self.label} is {shown(self.value)}, not {wanted}"

    @property
    def out_of_range(self) -> str:
        """The message for a value of the right type that Volcano does not accept; empty if it does."""
        argument, value = self.argument, self.value
        if argument is None:
            return ""
        if argument.choices and isinstance(value, str) and value not in argument.choices:
            return f"{self.label} is {value!r}, not one of {', '.join(filter(None, argument.choices))}"
        if argument.least is not None and isinstance(value, (int, float)) and value < argument.least:
            return f"{self.label} is {value}, below {argument.least}"
        return ""


def of_file(data: Mapping[str, Any]) -> Iterator[ArgumentValue]:
    """All of a configuration file, outer ones before their parts. Unknown owners are skipped."""
    for plugin in read(data).plugins:
        yield from _of_plugin(plugin.name, plugin.arguments, (*plugin.path, "arguments"))
    for path, name, item in configured_actions(data):
        yield from _of_action(name, mapping(item.get("arguments")), (*path, "arguments"))
    yield from _of_metrics(mapping(data.get("metrics")))


def of_options(options: Mapping[str, Any]) -> Iterator[ArgumentValue]:
    """All of a policy's options for the scheduler, with paths below the target."""
    for name, plugin in options.get("plugins", {}).items():
        yield from _of_plugin(name, plugin.get("arguments", {}), ("plugins", name, "arguments"))
    for name, arguments in options.get("configurations", {}).items():
        yield from _of_action(name, arguments, ("configurations", name))
    yield from _of_metrics(options.get("metrics", {}))


def argument_of(plugin: str, key: str) -> Argument | None:
    """The argument that a plugin reads under a key; None if there is none."""
    known = PLUGINS.get(plugin)
    return _find(key, known.arguments, known.prefixed) if known else None


def shown(value: object) -> str:
    """A value in a message."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, Mapping)):
        return "a list" if isinstance(value, list) else "a map"
    if value is None:
        return "empty"
    return f'the string "{value}"' if isinstance(value, str) else str(value)


def _of_plugin(name: str, written: Mapping[str, Any], base: Path) -> Iterator[ArgumentValue]:
    if known := PLUGINS.get(name):
        yield from _values(f"plugin {name}", name, base, written, known.arguments, known.prefixed)


def _of_action(name: str, written: Mapping[str, Any], base: Path) -> Iterator[ArgumentValue]:
    if action := ACTIONS.get(name):
        yield from _values(f"action {name}", name, base, written, action.arguments, _NO_PREFIXES)


def _of_metrics(written: Mapping[str, Any]) -> Iterator[ArgumentValue]:
    yield from _values("metrics", "", ("metrics",), written, METRICS, _NO_PREFIXES)


def _values(
    owner: str,
    name: str,
    base: Path,
    written: Mapping[str, Any],
    known: Mapping[str, Argument],
    prefixed: Mapping[str, Argument],
) -> Iterator[ArgumentValue]:
    for key, value in written.items():
        if isinstance(key, str):
            argument = _find(key, known, prefixed)
            yield from _with_parts(ArgumentValue(owner, name, base, (key,), value, argument, tuple(known)))


def _find(key: str, known: Mapping[str, Argument], prefixed: Mapping[str, Argument]) -> Argument | None:
    if key in known:
        return known[key]
    return next((prefixed[start] for start in prefixed if key.startswith(start) and key != start), None)


def _with_parts(whole: ArgumentValue) -> Iterator[ArgumentValue]:
    yield whole
    argument, value = whole.argument, whole.value
    if argument is None:
        return
    if argument.kind == "map" and isinstance(value, dict) and (argument.fields or argument.each):
        for key, part in value.items():
            if isinstance(key, str):
                yield from _with_parts(_part(whole, key, part, argument.fields.get(key, argument.each)))
    elif argument.kind == "list" and isinstance(value, list) and argument.each:
        for index, part in enumerate(value):
            yield from _with_parts(_part(whole, index, part, argument.each))


def _part(whole: ArgumentValue, step: str | int, value: Any, argument: Argument | None) -> ArgumentValue:
    known = tuple(whole.argument.fields) if whole.argument else ()
    return whole._replace(steps=(*whole.steps, step), value=value, argument=argument, known=known)


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
    for value in of_options(options):
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
