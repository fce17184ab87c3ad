"""Options with which `gen` reproduces an existing configuration of Volcano's scheduler."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from policykit.catalogue.volcano.actions import ACTIONS
from policykit.catalogue.volcano.argument import Argument
from policykit.catalogue.volcano.configuration import Configuration, Plugin
from policykit.catalogue.volcano.flags import FLAGS
from policykit.catalogue.volcano.options import option_problems
from policykit.catalogue.volcano.plugins import PLUGINS, PREEMPTABLE, RECLAIMABLE
from policykit.errors import PolicykitError
from policykit.manifests.path import dotted
from policykit.model.cluster import Cluster, TargetSettings
from policykit.model.queue import Queue
from policykit.targets.release import Version
from policykit.targets.volcano.options import of
from policykit.targets.volcano.scheduler.actions import in_order
from policykit.targets.volcano.scheduler.plan import plan

Say = Callable[[str], None]

_COMPUTED = ("nodeorder", "binpack")
"""Plugins whose arguments are computed from the policy."""
_ALTERNATIVES = {"capacity": ("proportion",), "proportion": ("capacity",)}
_ORDERED = frozenset({*PREEMPTABLE, *RECLAIMABLE, "sla", "overcommit", "resourcequota"})
"""Plugins whose tier matters."""
_IDLE = {"enablePreemptable": "preempt", "enableReclaimable": "reclaim"}
"""Flags that only matter to one action."""


def options(
    cluster: Cluster, written: tuple[Queue, ...], version: Version, there: Configuration, say: Say
) -> dict[str, Any]:
    """The options that the policy needs. What they cannot express is reported with `say`.

    Raises PolicykitError if no configuration can be generated even without options.
    """
    target = cluster.targets["volcano"]

    def made(stated: Mapping[str, Any]) -> Configuration:
        return plan(cluster, _with_options(target, stated), written, version).configuration

    stated: dict[str, Any] = {}
    # The actions decide which plugins are needed.
    for steps in (_section_differences, _plugin_differences):
        ours = made(stated)
        for section, name, value in steps(there, ours):
            for candidate in _candidates(stated, section, name, value, there=ours.plugin(name) is not None):
                problem = _problem(candidate, version, made)
                if not problem:
                    stated = candidate
                    break
                say(f"volcano: {problem}")
    _report_differences(there, made(stated), say)
    return stated


def _candidates(
    stated: Mapping[str, Any], section: str, name: str, value: Any, *, there: bool
) -> Iterator[dict[str, Any]]:
    """The options with one more section or entry; for a plugin also without its tier.

    `there`: the plugin is generated without the option.
    """
    if not name:
        yield {**stated, section: value}
        return
    yield {**stated, section: {**stated.get(section, {}), name: value}}
    if "tier" in value:
        without = {key: each for key, each in value.items() if key != "tier"}
        if without or not there:
            yield {**stated, section: {**stated.get(section, {}), name: without}}


def _problem(stated: Mapping[str, Any], version: Version, made: Callable[[Mapping[str, Any]], object]) -> str:
    """Why a policy cannot have these options; empty: it can."""
    problem = next(option_problems(stated, version), None)
    if problem:
        return f"{dotted(problem.path)} is left out: {problem.message}"
    try:
        made(stated)
    except PolicykitError as error:
        return f"{error.message}; `policykit gen` writes something else"
    return ""


def _with_options(target: TargetSettings, stated: Mapping[str, Any]) -> TargetSettings:
    return target._replace(options={**of(target), **stated})


def _section_differences(there: Configuration, ours: Configuration) -> Iterator[tuple[str, str, Any]]:
    """(section, entry, value) of each difference other than plugins."""
    if there.metrics:
        yield "metrics", "", dict(there.metrics)
    actions = in_order(there.actions)
    if actions and actions != ours.actions:
        yield "actions", "", list(actions)
    for name, arguments in there.configurations.items():
        if name in ACTIONS:
            yield "configurations", name, dict(arguments)


def _plugin_differences(there: Configuration, ours: Configuration) -> Iterator[tuple[str, str, Any]]:
    """(section, entry, value) of each plugin that differs."""
    for name in PLUGINS:
        change = _plugin_difference(name, there, ours)
        if change is not None:
            yield "plugins", name, change


def _plugin_difference(name: str, there: Configuration, ours: Configuration) -> dict[str, Any] | None:
    """Options for a plugin; None: none needed."""
    theirs, own = there.plugin(name), ours.plugin(name)
    if (theirs is None and own is None) or (name == "binpack" and not (theirs and own)):
        return None
    if theirs is None:
        return None if any(map(there.plugin, _ALTERNATIVES.get(name, ()))) else {"enabled": False}
    change: dict[str, Any] = {}
    tier = min((there.tier(name) or 0) + 1, 2)
    usual = _usual_tier(name, ours)
    if name in _ORDERED and tier != usual:
        change["tier"] = tier
    flags = _flags(theirs, own or Plugin(name), there.actions)
    arguments = {} if name in _COMPUTED else _arguments(theirs, own or Plugin(name))
    change |= {key: value for key, value in (("flags", flags), ("arguments", arguments)) if value}
    return change if change or own is None else None


def _usual_tier(name: str, ours: Configuration) -> int:
    """The tier in which `gen` puts a plugin; capacity and proportion replace each other."""
    there = next((n for n in (name, *_ALTERNATIVES.get(name, ())) if ours.plugin(n)), "")
    return (ours.tier(there) or 0) + 1 if there else PLUGINS[name].tier


def _flags(theirs: Plugin, own: Plugin, actions: tuple[str, ...]) -> dict[str, bool]:
    return {
        flag: theirs.on(flag)
        for flag in FLAGS
        if theirs.on(flag) != own.on(flag) and _IDLE.get(flag, actions[0] if actions else "") in actions
    }


def _arguments(theirs: Plugin, own: Plugin) -> dict[str, Any]:
    """Arguments that differ. Arguments that only `gen` writes are reset to Volcano's default."""
    changed = {key: value for key, value in theirs.arguments.items() if own.arguments.get(key, ...) != value}
    for key in own.arguments:
        known = PLUGINS[own.name].arguments.get(key, Argument("text"))
        if key not in theirs.arguments and known.default is not None:
            changed[key] = known.default
    return changed


def _report_differences(there: Configuration, ours: Configuration, say: Say) -> None:
    """Reports what the options cannot express."""
    plugins = [plugin.name for tier in there.tiers for plugin in tier]
    for what, names, known in (
        ("action", there.actions, tuple(ACTIONS)),
        ("plugin", tuple(plugins), tuple(PLUGINS)),
    ):
        extra = [name for name in dict.fromkeys(names) if name and name not in known]
        if extra:
            say(
                f"volcano: {what} {', '.join(extra)} is in the configuration; "
                "`policykit gen` would leave it out"
            )
    twice = sorted({name for name in plugins if plugins.count(name) > 1})
    if twice:
        say(
            f"volcano: plugin {', '.join(twice)} is listed more than once and runs each time; "
            "the policy lists it once"
        )
    listed = tuple(name for name in there.actions if name in ACTIONS)
    if listed != ours.actions:
        say(f"volcano: actions are {', '.join(listed)}; `policykit gen` writes {', '.join(ours.actions)}")
