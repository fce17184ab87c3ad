"""The scheduler configuration as Volcano reads it: actions, and plugins in tiers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

CONFIG_KEY = "volcano-scheduler.conf"
"""Key of the ConfigMap, and the file name the scheduler is started with."""
CONFIG_MAP = "volcano-scheduler-configmap"
DEFAULT_ACTIONS = ("enqueue", "allocate", "backfill")


class Plugin(NamedTuple):
    """A plugin of a tier. `flags` stand beside its name, `arguments` under their own key."""

    name: str
    flags: Mapping[str, bool] = {}
    arguments: Mapping[str, Any] = {}


class Configuration(NamedTuple):
    """A whole file. Order of actions and tiers is order of execution."""

    actions: tuple[str, ...] = DEFAULT_ACTIONS
    tiers: tuple[tuple[Plugin, ...], ...] = ()

    def plugin(self, name: str) -> Plugin | None:
        return next((plugin for tier in self.tiers for plugin in tier if plugin.name == name), None)


def write(configuration: Configuration) -> dict[str, Any]:
    """The file as plain data."""
    return {
        "actions": ", ".join(configuration.actions),
        "tiers": [{"plugins": [_write_plugin(plugin) for plugin in tier]} for tier in configuration.tiers],
    }


def _write_plugin(plugin: Plugin) -> dict[str, Any]:
    arguments = {"arguments": dict(plugin.arguments)} if plugin.arguments else {}
    return {"name": plugin.name, **plugin.flags, **arguments}


def read(data: object) -> Configuration:
    """What the scheduler takes from a file: parts of another shape are left out, as by its parser."""
    root = data if isinstance(data, Mapping) else {}
    actions = root.get("actions")
    names = tuple(name.strip() for name in actions.split(",")) if isinstance(actions, str) else ()
    tiers = tuple(
        tuple(_read_plugin(plugin) for plugin in _maps(tier.get("plugins")))
        for tier in _maps(root.get("tiers"))
    )
    return Configuration(names, tiers)


def _read_plugin(data: Mapping[str, Any]) -> Plugin:
    name, arguments = data.get("name"), data.get("arguments")
    flags = {key: value for key, value in data.items() if isinstance(value, bool)}
    return Plugin(
        name if isinstance(name, str) else "",
        flags,
        dict(arguments) if isinstance(arguments, Mapping) else {},
    )


def _maps(data: object) -> list[Mapping[str, Any]]:
    return [item for item in data if isinstance(item, Mapping)] if isinstance(data, list) else []
