"""Plugins in their tiers: the chart's own, what the policy asks for, and what its options change."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from policykit.catalogue.volcano.plugins import PLUGINS, PREEMPTABLE
from policykit.targets.volcano.scheduler.actions import RECLAIMING
from policykit.targets.volcano.scheduler.config import Plugin
from policykit.targets.volcano.scheduler.options import PluginOption, Stated

Tiers = tuple[tuple[Plugin, ...], ...]


class Asked(NamedTuple):
    """What the policy's own words make of the tiers."""

    actions: tuple[str, ...]
    sharing: Plugin
    """proportion or capacity."""
    placing: Sequence[Plugin] = ()
    """Filters and scores, in order."""


class _Placed(NamedTuple):
    tier: int
    plugin: Plugin


def tiers(asked: Asked, stated: Stated) -> Tiers:
    """The tiers of the configuration; an empty one is left out."""
    placed = [*_first(asked), *_second(asked)]
    for name, option in stated.plugins.items():
        placed = _changed(placed, name, option)
    placed = _guarded([_Placed(each.tier, _harmless(each, asked)) for each in placed], asked)
    return tuple(
        tier for number in (1, 2) if (tier := tuple(each.plugin for each in placed if each.tier == number))
    )


def _first(asked: Asked) -> Iterable[_Placed]:
    yield _Placed(1, Plugin("priority"))
    # A gang guard that also vetoes victims would keep every full gang from being evicted at all.
    flags = {"enablePreemptable": False}
    if "reclaim" in asked.actions:
        flags["enableReclaimable"] = False
    yield _Placed(1, Plugin("gang", flags))
    yield _Placed(1, Plugin("conformance"))
    if _reclaims(asked):
        # The first tier with victims decides, and conformance has some: from the second the
        # plugin that knows what a queue deserves would not be asked.
        yield _Placed(1, asked.sharing)


def _reclaims(asked: Asked) -> bool:
    return any(name in asked.actions for name in RECLAIMING)


def _second(asked: Asked) -> Iterable[_Placed]:
    if "enqueue" in asked.actions:
        yield _Placed(2, Plugin("overcommit"))
    yield _Placed(2, Plugin("drf", {"enablePreemptable": False}))
    yield _Placed(2, Plugin("predicates"))
    if not _reclaims(asked):
        yield _Placed(2, asked.sharing)
    yield from (_Placed(2, plugin) for plugin in asked.placing)


def _changed(placed: list[_Placed], name: str, option: PluginOption) -> list[_Placed]:
    """The plugins with one of them switched off, changed, moved or added."""
    there = next((each for each in placed if each.plugin.name == name), None)
    if not option.enabled:
        return [each for each in placed if each is not there]
    plugin = there.plugin if there else Plugin(name)
    plugin = Plugin(name, {**plugin.flags, **option.flags}, {**plugin.arguments, **option.arguments})
    if there and option.tier in (None, there.tier):
        return [_Placed(each.tier, plugin) if each is there else each for each in placed]
    tier = option.tier or PLUGINS[name].tier
    return [*(each for each in placed if each is not there), _Placed(tier, plugin)]


def _harmless(placed: _Placed, asked: Asked) -> Plugin:
    """No plugin behind the first tier chooses victims where actions do, unless the policy says so."""
    plugin = placed.plugin
    others = [name for name in PREEMPTABLE if name != "priority"]
    if placed.tier == 1 or "preempt" not in asked.actions or plugin.name not in others:
        return plugin
    if "enablePreemptable" in plugin.flags:
        return plugin
    return Plugin(plugin.name, {**plugin.flags, "enablePreemptable": False}, plugin.arguments)


def _guarded(placed: list[_Placed], asked: Asked) -> list[_Placed]:
    """A gang that guards its pods stands last in its tier.

    Where two plugins agree on no victim, Volcano starts anew with the next one's: behind the
    gang that would be conformance, which knows no priority. Sources: `Preemptable` and
    `Reclaimable` in `framework/session_plugins.go` (1.8 to 1.15).
    """
    flags = {"preempt": "enablePreemptable", "reclaim": "enableReclaimable"}
    guards = [
        each
        for each in placed
        if each.plugin.name == "gang"
        and any(action in asked.actions and each.plugin.on(flag) for action, flag in flags.items())
    ]
    return [*(each for each in placed if each not in guards), *guards]
