"""Plugin network-topology-aware (1.12): the pods of a job stay together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from policykit.model.cluster import Cluster
from policykit.model.workload import WorkloadKind
from policykit.targets.release import Version
from policykit.targets.volcano import versions
from policykit.targets.volcano.scheduler import weights
from policykit.targets.volcano.scheduler.config import Plugin

NAME = "network-topology-aware"


def rival(weight: int) -> dict[str, int]:
    """What the plugin may count against others: nodes that are closest of all score up to twice.

    Where they tie, the share of the job's pods that stand there is added.
    """
    return {f"twice {NAME}": 2 * weight} if weight else {}


def asking(kinds: Sequence[WorkloadKind]) -> list[WorkloadKind]:
    """Kinds whose jobs are to stay within a level."""
    return [kind for kind in kinds if kind.within]


def weight(cluster: Cluster, rivals: int) -> int:
    """Smallest weight with which a node closer by one level wins by a point.

    Levels share 100 points evenly, and all nodes together count as one more. Source:
    `plugins/network-topology-aware` (1.12 to 1.15).
    """
    return weights.divided_up(len(cluster.levels) * (100 * rivals + 1), 100) if cluster.levels else 1


def plugin(weight: int, resources: Mapping[str, int], version: Version) -> Plugin:
    """`resources`: what fills a group of nodes, with weights as in packing."""
    arguments: dict[str, Any] = {"weight": weight}
    if version >= versions.GROUP_PACKING:
        cards = [name for name in sorted(resources) if name not in ("cpu", "memory")]
        for name in ("cpu", "memory"):
            arguments[f"hypernode.binpack.{name}"] = resources.get(name, 1)
        if cards:
            arguments["hypernode.binpack.resources"] = ", ".join(cards)
        arguments.update({f"hypernode.binpack.resources.{name}": resources[name] for name in cards})
        # With this weight it would also move pods that ask for no closeness, past packing.
        arguments["hypernode.binpack.normal-pod.enable"] = False
    return Plugin(NAME, {}, arguments)
