"""What does not work together in a scheduler configuration, told from Volcano's code alone.

Looks at the written file only, and shares nothing with the module that refuses such options.
"""

from collections.abc import Iterator
from typing import Any

KILLERS = {"gang", "priority", "conformance", "drf", "tdm", "pdb", "cdp"}
"""Plugins with a hook that chooses victims within a queue."""
TAKERS = {"gang", "conformance", "capacity", "proportion", "pdb", "cdp"}
"""The same among queues."""
ORDER = ("enqueue", "allocate", "backfill", "reclaim", "gangreclaim", "preempt", "gangpreempt", "shuffle")
SINCE = {
    "capacity": (1, 9),
    "deviceshare": (1, 9),
    "nodegroup": (1, 9),
    "pdb": (1, 9),
    "network-topology-aware": (1, 12),
    "resource-strategy-fit": (1, 13),
}


def conflicts(data: dict[str, Any], version: tuple[int, ...], *, topology: bool = False) -> Iterator[str]:
    """Each conflict in a file; `topology`: some jobs state one."""
    actions = [name.strip() for name in data["actions"].split(",")]
    tiers = [[plugin["name"] for plugin in tier["plugins"]] for tier in data["tiers"]]
    plugins = {plugin["name"]: plugin for tier in data["tiers"] for plugin in tier["plugins"]}
    where = {name: number for number, tier in enumerate(tiers) for name in tier}
    if sorted(actions, key=ORDER.index) != actions or len(set(actions)) != len(actions):
        yield "order of actions"
    if "allocate" not in actions:
        yield "nothing places pods"
    evicting = {"preempt", "reclaim"} & set(actions)
    if evicting and "enqueue" in actions:
        yield "enqueue beside preempt or reclaim"
    if evicting and {"gangpreempt", "gangreclaim"} & set(actions):
        yield "gang actions beside those they replace"
    if {"gangpreempt", "gangreclaim"} & set(actions) and version < (1, 15):
        yield "action of a later release"
    if sum(map(len, tiers)) != len(plugins):
        yield "a plugin listed twice"
    if not all(tiers):
        yield "an empty tier"
    for name in plugins:
        if version < SINCE.get(name, ()):
            yield f"{name} of a later release"
    yield from _victims(actions, plugins, where)
    yield from _sharing(actions, plugins, where)
    yield from _scores(plugins)
    yield from _needs(actions, plugins, data)
    if (
        topology
        and version >= (1, 12)
        and not _on(plugins, "network-topology-aware", "enabledHyperNodeGradient")
    ):
        yield "topology without its plugin"


def _on(plugins: dict[str, Any], name: str, flag: str) -> bool:
    return name in plugins and plugins[name].get(flag, True) is True


def _victims(actions: list[str], plugins: dict[str, Any], where: dict[str, int]) -> Iterator[str]:
    if "preempt" in actions:
        killing = {name for name in KILLERS if _on(plugins, name, "enablePreemptable")}
        if "priority" not in killing:
            yield "preempt without priority"
        elif any(where[name] != where["priority"] for name in killing):
            yield "preempt decided outside priority's tier"
        if (
            "gang" in killing
            and [n for n in where if n in killing and where[n] == where["gang"]][-1] != "gang"
        ):
            yield "a gang guard that others stand behind"
    if "reclaim" in actions:
        taking = {name for name in TAKERS if _on(plugins, name, "enableReclaimable")}
        due = {"capacity", "proportion"} & taking
        if not due:
            yield "reclaim without what a queue is due"
        elif any(where[name] != where[next(iter(due))] for name in taking):
            yield "reclaim decided outside the tier of capacity or proportion"
        if not any(_on(plugins, name, "enableJobStarving") for name in ("gang", "priority")):
            yield "no job starves"


def _sharing(actions: list[str], plugins: dict[str, Any], where: dict[str, int]) -> Iterator[str]:
    if {"capacity", "proportion"} <= set(plugins):
        yield "capacity beside proportion"
    if "gangreclaim" in actions and "capacity" not in plugins:
        yield "gangreclaim without capacity"
    hierarchical = plugins.get("drf", {}).get("enableHierarchy") is True
    if hierarchical and "proportion" in plugins and where["drf"] == where["proportion"]:
        yield "hdrf beside proportion"
    devices = plugins.get("deviceshare", {}).get("arguments", {})
    on = [k for k in ("VGPUEnable", "GPUSharingEnable", "GPUNumberEnable") if devices.get(f"deviceshare.{k}")]
    if len(on) > 1:
        yield "two ways of sharing devices"


def _scores(plugins: dict[str, Any]) -> Iterator[str]:
    order = plugins.get("nodeorder", {}).get("arguments", {})
    least = "nodeorder" in plugins and order.get("leastrequested.weight", 1) != 0
    fit = plugins.get("resource-strategy-fit", {}).get("arguments", {})
    fitting = "resource-strategy-fit" in plugins and fit.get("resourceStrategyFitWeight", 10) > 0
    types = [each["type"] for each in fit.get("resources", {}).values()] or ["LeastAllocated"]
    packs = "binpack" in plugins and plugins["binpack"].get("arguments", {}).get("binpack.weight", 1) != 0
    packs = packs or order.get("mostrequested.weight", 0) != 0
    if (packs or (fitting and "MostAllocated" in types)) and least:
        yield "packing beside leastrequested"
    if packs and fitting and "LeastAllocated" in types:
        yield "packing beside LeastAllocated"


def _needs(actions: list[str], plugins: dict[str, Any], data: dict[str, Any]) -> Iterator[str]:
    if {"tdm", "rescheduling"} & set(plugins) and "shuffle" not in actions:
        yield "evictions that nobody carries out"
    if {"usage", "rescheduling"} & set(plugins) and not data.get("metrics"):
        yield "load that nobody measures"
