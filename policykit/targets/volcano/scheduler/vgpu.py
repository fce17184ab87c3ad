"""Plugin deviceshare: cards shared as vGPUs by Volcano's own device plugin."""

from __future__ import annotations

from typing import Any

from policykit.model.cluster import Cluster
from policykit.model.placement import SPREAD
from policykit.targets.volcano.scheduler import weights
from policykit.targets.volcano.scheduler.config import Plugin
from policykit.targets.volcano.scheduler.wishes import strategy

_OTHERS = ("GPUSharingEnable", "GPUNumberEnable")


def plugin(cluster: Cluster) -> Plugin:
    """vGPUs packed card by card, or spread where every workload kind asks for it.

    The switches outlive a reload of the configuration, so those that must be off are written. The
    weight lets a card that is fully in use outweigh what else scores pods.
    """
    kinds = cluster.workloads.values()
    spread = bool(kinds) and all(strategy(cluster, kind) == SPREAD for kind in kinds)
    arguments: dict[str, Any] = {"deviceshare.VGPUEnable": True}
    arguments.update({f"deviceshare.{name}": False for name in _OTHERS})
    arguments["deviceshare.SchedulePolicy"] = "spread" if spread else "binpack"
    arguments["deviceshare.ScheduleWeight"] = sum(weights.RIVALS.values()) + 1
    return Plugin("deviceshare", {}, arguments)
