"""The scheduler's configuration: actions, and plugins in tiers, each with its path."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policykit.manifests.document import Manifest
from policykit.manifests.path import Path
from policykit.manifests.shape import mapping, mappings, text
from policykit.namedtuple import NamedTuple
from policykit.targets.volcano.scheduler.plugins import FLAGS, OFF_UNLESS_SET

DEFAULT_ACTIONS = ("enqueue", "allocate", "backfill")
_AGENT_FILE = "agent-scheduler.conf"


class Plugin(NamedTuple):
    """A plugin of a tier. `flags` are next to its name, `arguments` under their own key."""

    name: str
    flags: Mapping[str, bool] = {}
    arguments: Mapping[str, Any] = {}
    path: Path = ()
    """Path of its item in a file, or of its options in a policy; empty if neither exists."""

    def on(self, flag: str) -> bool:
        """Whether a hook is enabled; all but two flags default to true."""
        return self.flags.get(flag, flag not in OFF_UNLESS_SET)


class Configuration(NamedTuple):
    """A whole file. Order of actions and tiers is order of execution."""

    actions: tuple[str, ...] = DEFAULT_ACTIONS
    tiers: tuple[tuple[Plugin, ...], ...] = ()
    metrics: Mapping[str, str] = {}
    """Source of the node load for plugins usage and rescheduling: type, address, ..."""
    configurations: Mapping[str, Mapping[str, Any]] = {}
    """Action to its arguments."""

    @property
    def plugins(self) -> tuple[Plugin, ...]:
        """All plugins with a name, in the order of the tiers."""
        return tuple(plugin for tier in self.tiers for plugin in tier if plugin.name)

    def plugin(self, name: str) -> Plugin | None:
        """The first plugin of a name."""
        return next((plugin for plugin in self.plugins if plugin.name == name), None)

    def has(self, name: str, flag: str = "") -> bool:
        """Whether a plugin is listed, with a hook enabled."""
        return any(each.name == name and (not flag or each.on(flag)) for each in self.plugins)

    def tier(self, name: str) -> int | None:
        """Number of a plugin's tier, from 0."""
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
    """The parts of a file that the scheduler reads, without unknown keys and values of the wrong shape.

    Source: `pkg/scheduler/conf/scheduler_conf.go` (1.8 to 1.15), decoded non-strictly. Of an
    action configured twice the first counts.
    """
    root = mapping(data)
    actions = root.get("actions")
    configurations: dict[str, Mapping[str, Any]] = {}
    for each in mappings(root.get("configurations")):
        configurations.setdefault(_scalar(each.get("name")), dict(mapping(each.get("arguments"))))
    return Configuration(
        tuple(name.strip() for name in actions.split(",")) if isinstance(actions, str) else (),
        tuple(_tiers(root)),
        {str(key): _scalar(value) for key, value in mapping(root.get("metrics")).items()},
        configurations,
    )


def _tiers(data: Mapping[str, Any]) -> Iterator[tuple[Plugin, ...]]:
    tiers = data.get("tiers")
    for number, tier in enumerate(tiers if isinstance(tiers, list) else ()):
        if isinstance(tier, dict):
            items = plugin_items({"tiers": [tier]})
            yield tuple(
                _plugin(item, ("tiers", number, *path[2:])) for path, item in items if isinstance(item, dict)
            )


def _plugin(item: Mapping[str, Any], path: Path) -> Plugin:
    flags = {key: value for key, value in item.items() if key in FLAGS and isinstance(value, bool)}
    return Plugin(_scalar(item.get("name")), flags, dict(mapping(item.get("arguments"))), path)


def plugin_items(data: Mapping[str, Any]) -> Iterator[tuple[Path, object]]:
    """Every item in the plugins of a tier, whatever its shape."""
    tiers = data.get("tiers")
    for number, tier in enumerate(tiers if isinstance(tiers, list) else ()):
        listed = mapping(tier).get("plugins")
        for position, item in enumerate(listed if isinstance(listed, list) else ()):
            yield ("tiers", number, "plugins", position), item


def configured_actions(data: Mapping[str, Any]) -> Iterator[tuple[Path, str, Mapping[str, Any]]]:
    """Items of `configurations`: path, name of the action, and the item."""
    listed = data.get("configurations")
    for position, item in enumerate(listed if isinstance(listed, list) else ()):
        if isinstance(item, dict):
            yield ("configurations", position), text(item.get("name")), item


def is_of_agent(manifest: Manifest) -> bool:
    """Whether it configures the agent scheduler (1.14), which has only action allocate."""
    return bool(manifest.held_at) and manifest.held_at[-1] == _AGENT_FILE


def is_of_fork(manifest: Manifest) -> bool:
    """Whether a scheduler built from Volcano's source may read it: its ConfigMap does not say Volcano."""
    holder = manifest.holder
    return holder is not None and holder.kind == "ConfigMap" and "volcano" not in holder.name


def in_policy(configuration: Configuration) -> Configuration:
    """With the paths at which a policy changes its plugins."""
    return configuration._replace(
        tiers=tuple(
            tuple(plugin._replace(path=("plugins", plugin.name)) for plugin in tier)
            for tier in configuration.tiers
        )
    )


def of_options(options: Mapping[str, Any]) -> Configuration:
    """The part of the configuration that a policy states, with its plugins in one tier."""
    stated = tuple(
        Plugin(name, plugin.get("flags", {}), plugin.get("arguments", {}), ("plugins", name))
        for name, plugin in options.get("plugins", {}).items()
        if plugin.get("enabled", True)
    )
    actions = tuple(options.get("actions") or ())
    return Configuration(actions, (stated,), options.get("metrics", {}), options.get("configurations", {}))


def _scalar(value: object) -> str:
    """A scalar as the string that Volcano expects: its parser reads numbers and booleans as written."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, (str, int, float)) else ""
