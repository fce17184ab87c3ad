"""Options with which `gen` reproduces an existing configuration of Volcano's scheduler."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from policykit.errors import PolicykitError
from policykit.manifests.path import dotted
from policykit.model.cluster import Cluster
from policykit.model.queue import Queue
from policykit.model.release import Version
from policykit.targets.volcano import versions
from policykit.targets.volcano.objects import queue_admission
from policykit.targets.volcano.options import PluginOption, VolcanoOptions, volcano_options
from policykit.targets.volcano.scheduler.actions import ACTIONS, Argument
from policykit.targets.volcano.scheduler.arguments import option_problems
from policykit.targets.volcano.scheduler.configuration import Configuration, Plugin
from policykit.targets.volcano.scheduler.plan import in_order, plan
from policykit.targets.volcano.scheduler.plugins import FLAGS, PLUGINS, PREEMPTABLE, RECLAIMABLE
from policykit.targets.volcano.scheduler.scoring import Scoring, scoring

Notify = Callable[[str], None]

_COMPUTED = ("nodeorder", "binpack")
"""Plugins whose arguments are computed from the policy."""
_ALTERNATIVES = {"capacity": ("proportion",), "proportion": ("capacity",)}
_ORDERED = frozenset({*PREEMPTABLE, *RECLAIMABLE, "sla", "overcommit", "resourcequota"})
"""Plugins whose tier matters."""
_IDLE = {"enablePreemptable": "preempt", "enableReclaimable": "reclaim"}
"""Flags that only matter to one action."""


def options(cluster: Cluster, there: Configuration, file: str, notify: Notify) -> dict[str, Any]:
    """Options with which `gen` writes the configuration that was found in a file.

    Raises PolicykitError if no configuration can be generated even without them.
    """
    target = cluster.targets["volcano"]
    version = versions.parse(target.version)
    ours = scoring(cluster, target)
    written, _ = queue_admission.admitted_queues(cluster.queues, version, cluster.pools)
    plugin = there.plugin("binpack")
    computed = {"weight": ours.binpack, "resources": dict(ours.resources)}
    weights = _binpack(plugin.arguments) if plugin else {"weight": 0}
    stated = {key: value for key, value in weights.items() if computed[key] != value}
    if stated:
        cluster = _with_options(cluster, stated)
    _report_node_order(there, scoring(cluster, cluster.targets["volcano"]), file, notify)
    others = other_options(cluster, written, version, there, notify)
    return {"binpack": stated, **others} if stated else others


def _report_node_order(there: Configuration, ours: Scoring, file: str, notify: Notify) -> None:
    """Reports weights of nodeorder that differ: `gen` computes them, so a policy has no option for them."""
    plugin = there.plugin("nodeorder")
    usual = {key: argument.default for key, argument in PLUGINS["nodeorder"].arguments.items()}
    computed = {**usual, **{f"{part}.weight": weight for part, weight in ours.parts.items()}}
    left = {
        key: value
        for key, value in (plugin.arguments.items() if plugin else ())
        if computed.get(key) != value
    }
    if left:
        arguments = ", ".join(f"{key}: {value}" for key, value in left.items())
        notify(f"{file}: arguments of nodeorder ({arguments}) are computed from the policy; left out")


def other_options(
    cluster: Cluster, written: tuple[Queue, ...], version: Version, there: Configuration, notify: Notify
) -> dict[str, Any]:
    """The options that the policy needs. What they cannot express is reported with `notify`.

    Raises PolicykitError if no configuration can be generated even without options.
    """
    target = cluster.targets["volcano"]

    def generated(stated: Mapping[str, Any]) -> Configuration:
        compiled = target._replace(options=_compiled(volcano_options(target), stated))
        return plan(cluster, compiled, written, version).configuration

    stated: dict[str, Any] = {}
    # The actions decide which plugins are needed.
    for differences in (_section_differences, _plugin_differences):
        stated |= differences(there, generated(stated))
        stated = _consistent(_supported(stated, version, notify), generated, notify)
    _report_differences(there, generated(stated), notify)
    return stated


def _compiled(base: VolcanoOptions, stated: Mapping[str, Any]) -> VolcanoOptions:
    """The options with sections as a policy states them."""
    plugins = {name: PluginOption(**plugin) for name, plugin in stated.get("plugins", {}).items()}
    return base._replace(**{**stated, "plugins": plugins})


def _supported(stated: dict[str, Any], version: Version, notify: Notify) -> dict[str, Any]:
    """The options without entries that the release or the policy does not take."""
    for problem in option_problems(stated, version):
        section, name = map(str, (*problem.path, "", "")[:2])
        left = _without(stated, section, name if section in ("plugins", "configurations") else "")
        if left != stated:
            notify(f"volcano: {dotted(problem.path)} is left out: {problem.message}")
        stated = left
    return stated


def _consistent(
    stated: dict[str, Any], generate: Callable[[Mapping[str, Any]], object], notify: Notify
) -> dict[str, Any]:
    """The options without those that contradict each other or the policy: tiers, then plugins and actions.

    Raises PolicykitError if no configuration can be generated even without them.
    """
    for reduced in (_without_tiers(stated), _without(_without(stated, "plugins"), "actions")):
        try:
            generate(stated)
        except PolicykitError as error:
            notify(f"volcano: {error.message}; `policykit gen` writes something else")
            stated = reduced
    generate(stated)
    return stated


def _without(stated: Mapping[str, Any], section: str, name: str = "") -> dict[str, Any]:
    """The options without a section, or without one entry of it."""
    kept = {key: value for key, value in stated.get(section, {}).items() if key != name} if name else {}
    others = {key: value for key, value in stated.items() if key != section}
    return {**others, section: kept} if kept else others


def _without_tiers(stated: Mapping[str, Any]) -> dict[str, Any]:
    plugins = {
        name: {key: value for key, value in plugin.items() if key != "tier"}
        for name, plugin in stated.get("plugins", {}).items()
    }
    return {**stated, "plugins": plugins} if plugins else dict(stated)


def _section_differences(there: Configuration, ours: Configuration) -> dict[str, Any]:
    """Sections other than plugins that differ."""
    found: dict[str, Any] = {"metrics": dict(there.metrics)}
    actions = in_order(there.actions)
    if actions != ours.actions:
        found["actions"] = list(actions)
    found["configurations"] = {
        name: dict(arguments) for name, arguments in there.configurations.items() if name in ACTIONS
    }
    return {section: value for section, value in found.items() if value}


def _plugin_differences(there: Configuration, ours: Configuration) -> dict[str, Any]:
    """The section of plugins that differ; empty: none does."""
    changes = {name: _plugin_difference(name, there, ours) for name in PLUGINS}
    found = {name: change for name, change in changes.items() if change is not None}
    return {"plugins": found} if found else {}


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


def _report_differences(there: Configuration, ours: Configuration, notify: Notify) -> None:
    """Reports what the options cannot express."""
    plugins = [plugin.name for tier in there.tiers for plugin in tier]
    for what, names, known in (
        ("action", there.actions, tuple(ACTIONS)),
        ("plugin", tuple(plugins), tuple(PLUGINS)),
    ):
        extra = [name for name in dict.fromkeys(names) if name and name not in known]
        if extra:
            notify(
                f"volcano: {what} {', '.join(extra)} is in the configuration; "
                "`policykit gen` would leave it out"
            )
    twice = sorted({name for name in plugins if plugins.count(name) > 1})
    if twice:
        notify(
            f"volcano: plugin {', '.join(twice)} is listed more than once and runs each time; "
            "the policy lists it once"
        )
    listed = tuple(name for name in there.actions if name in ACTIONS)
    if listed != ours.actions:
        notify(f"volcano: actions are {', '.join(listed)}; `policykit gen` writes {', '.join(ours.actions)}")


def _with_options(cluster: Cluster, binpack: Mapping[str, Any]) -> Cluster:
    target = cluster.targets["volcano"]
    stated = target._replace(options=volcano_options(target)._replace(**binpack))
    return cluster._replace(targets={**cluster.targets, "volcano": stated})


def _binpack(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """`binpack` of the policy, from the plugin's arguments."""
    names = arguments.get("binpack.resources")
    listed = [name.strip() for name in names.split(",")] if isinstance(names, str) and names.strip() else []
    weights = {name: arguments.get(f"binpack.{name}", 1) for name in ("cpu", "memory")}
    weights |= {name: arguments.get(f"binpack.resources.{name}", 1) for name in listed}
    whole = {name: _weight(weight) for name, weight in weights.items()}
    return {"weight": _weight(arguments.get("binpack.weight", 1)), "resources": whole}


def _weight(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else 1
