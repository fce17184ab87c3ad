"""Args of a plugin as koord-scheduler reads them: an entry of a profile's pluginConfig."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple


class Args(NamedTuple):
    """What a profile sets of one plugin."""

    plugin: str
    fields: Mapping[str, Any] = {}
    """Beside apiVersion and kind, as upstream spells them."""
    api_version: str = ""
    """Empty: left out, so the configuration's own."""
    kind: str = ""
    """Empty: left out. Anything but `<plugin>Args` stops the scheduler."""


def kind_of(plugin: str) -> str:
    """The kind that a plugin's args must have."""
    return f"{plugin}Args"


def of(plugin: str, fields: Mapping[str, Any], api_version: str) -> Args:
    """Args with the kind they must have."""
    return Args(plugin, fields, api_version, kind_of(plugin))


def write(args: Args) -> dict[str, Any]:
    """An entry of `pluginConfig`."""
    head = {"apiVersion": args.api_version, "kind": args.kind}
    return {
        "name": args.plugin,
        "args": {**{key: value for key, value in head.items() if value}, **args.fields},
    }


def read(data: object) -> Args | None:
    """An entry of `pluginConfig`; None where it names no plugin."""
    entry = data if isinstance(data, Mapping) else {}
    name, given = entry.get("name"), entry.get("args")
    if not isinstance(name, str):
        return None
    args = given if isinstance(given, Mapping) else {}
    version, kind = args.get("apiVersion"), args.get("kind")
    return Args(
        name,
        {key: value for key, value in args.items() if key not in ("apiVersion", "kind")},
        version if isinstance(version, str) else "",
        kind if isinstance(kind, str) else "",
    )
