"""Plugins with computed arguments: network-topology-aware, resource-strategy-fit and deviceshare."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from policykit.catalogue.volcano.configuration import Plugin
from policykit.model.cluster import Cluster
from policykit.model.placement import BINPACK, SPREAD
from policykit.model.release import Version
from policykit.model.workload import WorkloadKind
from policykit.namedtuple import NamedTuple
from policykit.targets.volcano import versions
from policykit.targets.volcano.names import TOPOLOGY_PLUGIN
from policykit.targets.volcano.scheduler import weights
from policykit.targets.volcano.scheduler.packing import strategy


def topology_rival(weight: int) -> dict[str, int]:
    """The most points the plugin may count against others: the closest nodes score up to twice its weight.

    On a tie, the share of the job's pods on them is added.
    """
    return {f"twice {TOPOLOGY_PLUGIN}": 2 * weight} if weight else {}


def topology_kinds(kinds: Sequence[WorkloadKind]) -> list[WorkloadKind]:
    """Kinds whose jobs must stay within a level."""
    return [kind for kind in kinds if kind.within]


def scored_steps(cluster: Cluster, version: Version) -> int:
    """Steps from the narrowest level to standing apart, which share 100 points evenly.

    Before 1.14 the widest of several levels scores as standing apart does. Source: `init` and
    `scoreHyperNodeWithTier` of `plugins/network-topology-aware` (1.12 to 1.15).
    """
    return max(len(cluster.levels) - (version < versions.WIDEST_SCORED), 1)


def topology_weight(steps: int, rivals: int) -> int:
    """Smallest weight with which a node closer by one step wins by a point."""
    return weights.divided_up(steps * (100 * rivals + 1), 100)


def topology_plugin(weight: int, resources: Mapping[str, int], version: Version) -> Plugin:
    """`resources`: weights for how full a group of nodes is, as in packing."""
    arguments: dict[str, Any] = {"weight": weight}
    if version >= versions.GROUP_PACKING:
        cards = [name for name in sorted(resources) if name not in ("cpu", "memory")]
        for name in ("cpu", "memory"):
            arguments[f"hypernode.binpack.{name}"] = resources.get(name, 1)
        if cards:
            arguments["hypernode.binpack.resources"] = ", ".join(cards)
        arguments.update({f"hypernode.binpack.resources.{name}": resources[name] for name in cards})
        # With this weight it would also attract pods without a topology, against packing.
        arguments["hypernode.binpack.normal-pod.enable"] = False
    return Plugin(TOPOLOGY_PLUGIN, {}, arguments)


_TYPES = {BINPACK: "MostAllocated"}
_SPREADING = "LeastAllocated"


class Fit(NamedTuple):
    """Plugin resource-strategy-fit: resources with their strategies and weights."""

    weight: int = 0
    """Weight of packing and spreading against other scores; 0: another plugin does it, or none."""
    resources: Mapping[str, int] = {}
    """Resource to its weight."""
    strategies: Mapping[str, str] = {}
    """Resource to binpack or spread."""
    scarce: tuple[str, ...] = ()
    """Resources whose nodes are kept for pods that request them."""
    scarce_weight: int = 0

    @property
    def plugin(self) -> Plugin:
        arguments: dict[str, Any] = {"resourceStrategyFitWeight": self.weight}
        # Volcano would replace weight 0 by 1, so such a resource is not listed.
        listed = {name: weight for name, weight in sorted(self.resources.items()) if weight}
        if self.weight and listed:
            arguments["resources"] = {
                name: {"type": _TYPES.get(self.strategies[name], _SPREADING), "weight": weight}
                for name, weight in listed.items()
            }
        if self.scarce:
            arguments["sra"] = {
                "enable": True,
                "resources": ", ".join(self.scarce),
                "weight": self.scarce_weight,
                "resourceWeight": dict.fromkeys(self.scarce, 1),
            }
        return Plugin("resource-strategy-fit", {}, arguments)


def scarce_weight(resources: int, rivals: int) -> int:
    """Smallest sra weight with which a node with one of `resources` scarce resources less wins by a point.

    Each counts the same, so one is worth `100 / resources` points.
    """
    return weights.divided_up(resources * (100 * rivals + 1), 100)


_OTHER_MODES = ("GPUSharingEnable", "GPUNumberEnable")


def vgpu_plugin(cluster: Cluster) -> Plugin:
    """vGPUs packed card by card, or spread if every workload kind asks for it.

    Modes stay on when the configuration is reloaded, so those that must be off are written. With this
    weight a card that is fully in use outweighs all other scores.
    """
    kinds = cluster.workloads.values()
    spread = bool(kinds) and all(strategy(cluster, kind) == SPREAD for kind in kinds)
    arguments: dict[str, Any] = {"deviceshare.VGPUEnable": True}
    arguments.update({f"deviceshare.{name}": False for name in _OTHER_MODES})
    arguments["deviceshare.SchedulePolicy"] = "spread" if spread else "binpack"
    arguments["deviceshare.ScheduleWeight"] = sum(weights.RIVALS.values()) + 1
    return Plugin("deviceshare", {}, arguments)
