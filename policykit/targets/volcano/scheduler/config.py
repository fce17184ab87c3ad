"""The scheduler configuration as Volcano reads it: actions, and plugins in tiers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from policykit.catalogue.volcano.flags import FLAGS, OFF_UNLESS_SET
from policykit.manifests.path import Path

CONFIG_KEY = "volcano-scheduler.conf"
"""Key of the ConfigMap, and the file name the scheduler is started with."""
CONFIG_MAP = "volcano-scheduler-configmap"
OVERRIDE = "scheduler_config_override"
"""Helm value below `custom` with the whole file."""
DEFAULT_ACTIONS = ("enqueue", "allocate", "backfill")


class Plugin(NamedTuple):
    """A plugin of a tier. `flags` stand beside its name, `arguments` under their own key."""

    name: str
    flags: Mapping[str, bool] = {}
    arguments: Mapping[str, Any] = {}

    def on(self, flag: str) -> bool:
        """Whether a hook is switched on; a flag left out counts as true, but for two."""
        return self.flags.get(flag, flag not in OFF_UNLESS_SET)


class Configuration(NamedTuple):
    """A whole file. Order of actions and tiers is order of execution."""

    actions: tuple[str, ...] = DEFAULT_ACTIONS
    tiers: tuple[tuple[Plugin, ...], ...] = ()
    metrics: Mapping[str, str] = {}
    """Where plugins usage and rescheduling get the load of nodes: type, address, ..."""
    configurations: Mapping[str, Mapping[str, Any]] = {}
    """Action to its arguments."""

    def plugin(self, name: str) -> Plugin | None:
        return next((plugin for tier in self.tiers for plugin in tier if plugin.name == name), None)

    def tier(self, name: str) -> int | None:
        """Number of the tier that holds a plugin, from 0."""
        return next(
            (number for number, tier in enumerate(self.tiers) if any(plugin.name == name for plugin in tier)),
            None,
        )


def write(configuration: Configuration) -> dict[str, Any]:
    """The file as plain data."""
    data: dict[str, Any] = {
        "actions": ", ".join(configuration.actions),
        "tiers": [{"plugins": [_write_plugin(plugin) for plugin in tier]} for tier in configuration.tiers],
    }
    if configuration.configurations:
        data["configurations"] = [
            {"name": name, **({"arguments": dict(arguments)} if arguments else {})}
            for name, arguments in configuration.configurations.items()
        ]
    if configuration.metrics:
        data["metrics"] = dict(configuration.metrics)
    return data


def _write_plugin(plugin: Plugin) -> dict[str, Any]:
    arguments = {"arguments": dict(plugin.arguments)} if plugin.arguments else {}
    return {"name": plugin.name, **plugin.flags, **arguments}


def read(data: object) -> Configuration:
    """What the scheduler takes from a file: keys it does not know and parts of another shape are left out.

    Source: `pkg/scheduler/conf/scheduler_conf.go` (1.8 to 1.15), decoded without strictness. Of an
    action configured twice the first counts.
    """
    root = data if isinstance(data, Mapping) else {}
    actions = root.get("actions")
    names = tuple(name.strip() for name in actions.split(",")) if isinstance(actions, str) else ()
    tiers = tuple(
        tuple(_read_plugin(plugin) for plugin in _maps(tier.get("plugins")))
        for tier in _maps(root.get("tiers"))
    )
    metrics = root.get("metrics")
    configurations: dict[str, Mapping[str, Any]] = {}
    for each in _maps(root.get("configurations")):
        configurations.setdefault(_text(each.get("name")), _mapping(each.get("arguments")))
    return Configuration(
        names,
        tiers,
        {str(key): _text(value) for key, value in metrics.items()} if isinstance(metrics, Mapping) else {},
        configurations,
    )


def plugin_path(data: object, name: str) -> Path | None:
    """Where the first plugin of a name stands in a file's data; None: nowhere."""
    tiers = data.get("tiers") if isinstance(data, Mapping) else None
    for number, tier in enumerate(tiers if isinstance(tiers, list) else ()):
        plugins = tier.get("plugins") if isinstance(tier, Mapping) else None
        for position, plugin in enumerate(plugins if isinstance(plugins, list) else ()):
            if isinstance(plugin, Mapping) and plugin.get("name") == name:
                return ("tiers", number, "plugins", position)
    return None


def _read_plugin(data: Mapping[str, Any]) -> Plugin:
    flags = {key: value for key, value in data.items() if key in FLAGS and isinstance(value, bool)}
    return Plugin(_text(data.get("name")), flags, _mapping(data.get("arguments")))


def _text(value: object) -> str:
    """A scalar where Volcano wants text: its parser takes numbers and switches as they are written."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, (str, int, float)) else ""


def _mapping(data: object) -> dict[str, Any]:
    return dict(data) if isinstance(data, Mapping) else {}


def _maps(data: object) -> list[Mapping[str, Any]]:
    return [item for item in data if isinstance(item, Mapping)] if isinstance(data, list) else []
