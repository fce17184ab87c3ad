"""Arguments of plugins and actions as a configuration gives them, each with what is known of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from policykit.catalogue.volcano.actions import ACTIONS, METRICS
from policykit.catalogue.volcano.argument import Argument
from policykit.catalogue.volcano.plugins import PLUGINS
from policykit.manifests.path import Path
from policykit.manifests.shape import mapping, text
from policykit.targets.volcano.checks import listing


class Given(NamedTuple):
    """One argument, or a part of one that is a map or a list."""

    owner: str
    """plugin nodeorder, action preempt or metrics."""
    name: str
    """Of the plugin or action; empty for metrics."""
    path: Path
    value: Any
    argument: Argument | None
    """None: nobody reads it."""
    known: tuple[str, ...]
    """Names that could stand in its place."""
    inside: bool = False
    """A part of an argument."""

    @property
    def key(self) -> str:
        return str(self.path[-1])

    @property
    def top(self) -> str:
        """The argument that it is, or is a part of."""
        steps = [step for step in self.path if isinstance(step, str)]
        return steps[steps.index("arguments") + 1] if "arguments" in steps else self.key


def given(data: Mapping[str, Any]) -> Iterator[Given]:
    """All of a configuration, outer ones before their parts. Those of unknown owners are passed over."""
    for plugin in listing.plugins(data).listed:
        if known := PLUGINS.get(plugin.name):
            owner, path = f"plugin {plugin.name}", (*plugin.path, "arguments")
            yield from _given(owner, plugin.name, path, plugin.arguments, known.arguments, known.prefixed)
    for path, name, item in configured(data):
        if action := ACTIONS.get(name):
            arguments = mapping(item.get("arguments"))
            yield from _given(f"action {name}", name, (*path, "arguments"), arguments, action.arguments, {})
    yield from _given("metrics", "", ("metrics",), mapping(data.get("metrics")), METRICS, {})


def configured(data: Mapping[str, Any]) -> Iterator[tuple[Path, str, Mapping[str, Any]]]:
    """Items of `configurations`: place, name of the action, and the item."""
    listed = data.get("configurations")
    for position, item in enumerate(listed if isinstance(listed, list) else ()):
        if isinstance(item, Mapping):
            yield ("configurations", position), text(item.get("name")), item


def argument_of(plugin: str, key: str) -> Argument | None:
    """What a plugin reads under a key; None: nothing."""
    known = PLUGINS.get(plugin)
    return _find(key, known.arguments, known.prefixed) if known else None


def _given(
    owner: str,
    name: str,
    path: Path,
    written: Mapping[str, Any],
    known: Mapping[str, Argument],
    prefixed: Mapping[str, Argument],
) -> Iterator[Given]:
    for key, value in written.items():
        if isinstance(key, str):
            argument = _find(key, known, prefixed)
            one = Given(owner, name, (*path, key), value, argument, tuple(known))
            yield one
            yield from _parts(one)


def _find(key: str, known: Mapping[str, Argument], prefixed: Mapping[str, Argument]) -> Argument | None:
    if key in known:
        return known[key]
    return next((prefixed[start] for start in prefixed if key.startswith(start) and key != start), None)


def _parts(whole: Given) -> Iterator[Given]:
    argument, value = whole.argument, whole.value
    if argument is None:
        return
    steps: Iterator[tuple[str | int, Any, Argument | None]] = iter(())
    if argument.kind == "map" and isinstance(value, Mapping):
        fields, each = argument.fields, argument.each
        if fields or each:
            steps = (
                (key, part, fields.get(key, each)) for key, part in value.items() if isinstance(key, str)
            )
    elif argument.kind == "list" and isinstance(value, list) and argument.each:
        steps = ((index, part, argument.each) for index, part in enumerate(value))
    for step, part, expected in steps:
        one = whole._replace(
            path=(*whole.path, step),
            value=part,
            argument=expected,
            known=tuple(argument.fields),
            inside=True,
        )
        yield one
        yield from _parts(one)
