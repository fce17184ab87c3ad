"""Plugins in their tiers: the chart's own, those the policy needs, and what its options change."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from policykit.catalogue.volcano.configuration import Plugin
from policykit.catalogue.volcano.plugins import PLUGINS, PREEMPTABLE
from policykit.catalogue.volcano.validator import RECLAIMING, VICTIM_FLAGS
from policykit.targets.volcano.options import PluginOption, VolcanoOptions

Tiers = tuple[tuple[Plugin, ...], ...]


class TierPlan(NamedTuple):
    """What the tiers are made from, options apart."""

    actions: tuple[str, ...]
    sharing: Plugin
    """proportion or capacity."""
    scoring: Sequence[Plugin] = ()
    """Filters and scores, in order."""


class _Entry(NamedTuple):
    tier: int
    plugin: Plugin


def tiers(plan: TierPlan, options: VolcanoOptions) -> Tiers:
    """The tiers of the configuration; an empty one is left out."""
    entries = [*_first(plan), *_second(plan)]
    for name, option in options.plugins.items():
        entries = _changed(entries, name, option)
    entries = _gang_last([_Entry(each.tier, _harmless(each, plan)) for each in entries], plan)
    return tuple(
        tier for number in (1, 2) if (tier := tuple(each.plugin for each in entries if each.tier == number))
    )


def _first(plan: TierPlan) -> Iterable[_Entry]:
    yield _Entry(1, Plugin("priority"))
    # If plugin gang vetoed victims, no complete gang could ever be evicted.
    flags = {"enablePreemptable": False}
    if "reclaim" in plan.actions:
        flags["enableReclaimable"] = False
    yield _Entry(1, Plugin("gang", flags))
    yield _Entry(1, Plugin("conformance"))
    if _reclaims(plan):
        # The first tier with victims decides, and conformance has some: from the second the
        # plugin that knows what a queue deserves would not be asked.
        yield _Entry(1, plan.sharing)


def _reclaims(plan: TierPlan) -> bool:
    return any(name in plan.actions for name in RECLAIMING)


def _second(plan: TierPlan) -> Iterable[_Entry]:
    if "enqueue" in plan.actions:
        yield _Entry(2, Plugin("overcommit"))
    yield _Entry(2, Plugin("drf", {"enablePreemptable": False}))
    yield _Entry(2, Plugin("predicates"))
    if not _reclaims(plan):
        yield _Entry(2, plan.sharing)
    yield from (_Entry(2, plugin) for plugin in plan.scoring)


def _changed(entries: list[_Entry], name: str, option: PluginOption) -> list[_Entry]:
    """The plugins with one of them switched off, changed, moved or added."""
    current = next((each for each in entries if each.plugin.name == name), None)
    if not option.enabled:
        return [each for each in entries if each is not current]
    plugin = current.plugin if current else Plugin(name)
    plugin = Plugin(name, {**plugin.flags, **option.flags}, {**plugin.arguments, **option.arguments})
    if current and option.tier in (None, current.tier):
        return [_Entry(each.tier, plugin) if each is current else each for each in entries]
    tier = option.tier or PLUGINS[name].tier
    return [*(each for each in entries if each is not current), _Entry(tier, plugin)]


def _harmless(entry: _Entry, plan: TierPlan) -> Plugin:
    """No plugin behind the first tier chooses victims where actions do, unless the policy says so."""
    plugin = entry.plugin
    others = [name for name in PREEMPTABLE if name != "priority"]
    if entry.tier == 1 or "preempt" not in plan.actions or plugin.name not in others:
        return plugin
    if "enablePreemptable" in plugin.flags:
        return plugin
    return Plugin(plugin.name, {**plugin.flags, "enablePreemptable": False}, plugin.arguments)


def _gang_last(entries: list[_Entry], plan: TierPlan) -> list[_Entry]:
    """Plugin gang is last in its tier where it guards pods.

    Where two plugins agree on no victim, Volcano starts over with the victims of the next one: after
    the gang that would be conformance, which knows no priority. Sources: `Preemptable` and
    `Reclaimable` in `framework/session_plugins.go` (1.8 to 1.15).
    """
    guards = [
        each
        for each in entries
        if each.plugin.name == "gang"
        and any(action in plan.actions and each.plugin.on(flag) for action, flag in VICTIM_FLAGS.items())
    ]
    return [*(each for each in entries if each not in guards), *guards]
