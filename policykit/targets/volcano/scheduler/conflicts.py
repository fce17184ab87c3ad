"""Configurations that Volcano takes and that do not work: refused before they are written."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from policykit.catalogue.volcano.plugins import MEASURED, PREEMPTABLE, RECLAIMABLE, SHUFFLED
from policykit.errors import PolicykitError
from policykit.targets.volcano.scheduler.config import Configuration, Plugin

Conflict = tuple[str, str]
"""What is wrong, and what to do."""


def check(configuration: Configuration) -> None:
    """Raises PolicykitError for the first conflict."""
    for rule in _RULES:
        for message, hint in rule(configuration):
            raise PolicykitError(message, hint, path=("targets", "volcano"))


def _enqueue(c: Configuration) -> Iterator[Conflict]:
    held = [name for name in ("preempt", "reclaim") if name in c.actions]
    if "enqueue" in c.actions and held:
        yield (
            f"action enqueue keeps waiting jobs from {' and '.join(held)}: those see admitted jobs only",
            "take enqueue out of targets.volcano.actions",
        )


def _preempting(c: Configuration) -> Iterator[Conflict]:
    if "preempt" not in c.actions:
        return
    gate = c.plugin("priority")
    if gate is None or not (gate.on("enablePreemptable") and gate.on("enableJobStarving")):
        yield (
            "action preempt needs plugin priority with enablePreemptable and enableJobStarving: without it "
            "jobs "
            "of equal or higher priority are evicted, or none",
            "do not switch off plugin priority, or set preemption.withinQueue to false",
        )
    yield from _elsewhere(c, "priority", "preempt", "enablePreemptable", _choosing(c, preempt=True))


def _reclaiming(c: Configuration) -> Iterator[Conflict]:
    if "reclaim" not in c.actions:
        return
    sharing = next((name for name in ("capacity", "proportion") if c.plugin(name)), "")
    plugin = c.plugin(sharing)
    if plugin is None or not (plugin.on("enableReclaimable") and plugin.on("enablePreemptive")):
        yield (
            "action reclaim needs plugin capacity or proportion with enableReclaimable and enablePreemptive: "
            "without it pods are taken from queues that are within their due",
            "do not switch off the plugin that shares among queues, or set preemption.reclaim to false",
        )
        return
    if not any((p := c.plugin(name)) and p.on("enableJobStarving") for name in ("gang", "priority")):
        yield (
            "action reclaim acts for starving jobs, which plugins gang and priority tell",
            "do not switch off both, nor their enableJobStarving",
        )
    yield from _elsewhere(c, sharing, "reclaim", "enableReclaimable", _choosing(c, preempt=False))


def _reclaiming_gangs(c: Configuration) -> Iterator[Conflict]:
    if "gangreclaim" not in c.actions:
        return
    if c.plugin("capacity") is None:
        yield (
            "action gangreclaim asks plugin capacity alone what a queue is due, and it is not in the "
            "configuration: pods would be taken from every other queue",
            "state what queues deserve, or name capacity in targets.volcano.plugins",
        )
    elif c.plugin("conformance") and c.tier("capacity") != c.tier("conformance"):
        yield (
            "plugin capacity stands in another tier than conformance: the first tier that finds victims of "
            "gangreclaim decides alone",
            "set targets.volcano.plugins.capacity.tier to that of conformance",
        )


def _elsewhere(
    c: Configuration, gate: str, action: str, flag: str, choosing: list[Plugin]
) -> Iterator[Conflict]:
    """Plugins that choose victims in another tier: theirs alone, past the gate, or instead of it."""
    for plugin in choosing:
        if c.plugin(gate) and c.tier(plugin.name) != c.tier(gate) and plugin.on(flag):
            yield (
                f"plugin {plugin.name} chooses victims of {action} in another tier than {gate}: the first "
                "tier "
                "that finds any decides alone",
                f"set targets.volcano.plugins.{plugin.name}.flags.{flag} to false, or give both one tier",
            )


def _choosing(c: Configuration, *, preempt: bool) -> list[Plugin]:
    names = PREEMPTABLE if preempt else RECLAIMABLE
    verb = "extender.preemptableVerb" if preempt else "extender.reclaimableVerb"
    return [
        plugin
        for tier in c.tiers
        for plugin in tier
        if plugin.name in names
        or (plugin.name == "extender" and plugin.arguments.get(verb))
        or (plugin.name == "drf" and not preempt and plugin.on("enableHierarchy"))
    ]


def _two_shares(c: Configuration) -> Iterator[Conflict]:
    if c.plugin("capacity") and c.plugin("proportion"):
        yield (
            "plugins capacity and proportion both limit queues, each by rules of its own",
            "keep one of them in targets.volcano.plugins",
        )
    drf = c.plugin("drf")
    if drf and drf.on("enableHierarchy") and c.plugin("proportion") and c.tier("drf") == c.tier("proportion"):
        yield (
            "plugin drf with enableHierarchy and plugin proportion in one tier: Volcano refuses the whole "
            "file",
            "take enableHierarchy away, or set targets.volcano.plugins.proportion.enabled to false",
        )


def _devices(c: Configuration) -> Iterator[Conflict]:
    arguments = _arguments(c, "deviceshare")
    on = [
        f"deviceshare.{name}"
        for name in ("VGPUEnable", "GPUSharingEnable", "GPUNumberEnable")
        if arguments.get(f"deviceshare.{name}") is True
    ]
    if len(on) > 1:
        yield f"{on[0]} and {on[1]} cannot both be true: the scheduler exits", "keep one of them"


def _scores(c: Configuration) -> Iterator[Conflict]:
    """Packing and spreading at once: they cancel each other."""
    order, fit = _arguments(c, "nodeorder"), _arguments(c, "resource-strategy-fit")
    fitting = c.plugin("resource-strategy-fit") is not None and fit.get("resourceStrategyFitWeight", 10) > 0
    resources = fit.get("resources") or {"cpu": {}, "memory": {}}
    kinds = {entry.get("type", "LeastAllocated") for entry in resources.values()} if fitting else set()
    packing = [
        name
        for name, on in (
            ("binpack", c.plugin("binpack") and _arguments(c, "binpack").get("binpack.weight", 1)),
            ("mostrequested.weight of nodeorder", order.get("mostrequested.weight", 0)),
            ("MostAllocated of resource-strategy-fit", "MostAllocated" in kinds),
        )
        if on
    ]
    least = c.plugin("nodeorder") is not None and order.get("leastrequested.weight", 1) > 0
    if packing and least:
        yield (
            f"leastrequested.weight of nodeorder is not 0 beside {packing[0]}: one spreads what the other "
            "packs",
            "set leastrequested.weight to 0, or take the packing away",
        )
    if "LeastAllocated" in kinds and (rest := [name for name in packing if "resource-strategy" not in name]):
        yield (
            f"LeastAllocated of resource-strategy-fit beside {rest[0]}: one spreads what the other packs",
            "state one way of placing, in placements of the policy or in targets.volcano.plugins",
        )


def _evicting(c: Configuration) -> Iterator[Conflict]:
    for name in SHUFFLED:
        if c.plugin(name) and "shuffle" not in c.actions:
            yield (
                f"plugin {name} names pods to evict, and only action shuffle evicts them",
                "add shuffle to targets.volcano.actions",
            )


def _measured(c: Configuration) -> Iterator[Conflict]:
    for name in MEASURED:
        if c.plugin(name) and not c.metrics:
            yield (
                f"plugin {name} judges the load of nodes, and no metrics tell it",
                "set targets.volcano.metrics, with type and address",
            )


def _arguments(c: Configuration, name: str) -> dict[str, Any]:
    plugin = c.plugin(name)
    return dict(plugin.arguments) if plugin else {}


_RULES: tuple[Callable[[Configuration], Iterator[Conflict]], ...] = (
    _enqueue,
    _two_shares,
    _preempting,
    _reclaiming,
    _reclaiming_gangs,
    _devices,
    _scores,
    _evicting,
    _measured,
)
