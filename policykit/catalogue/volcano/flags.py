"""Flags next to a plugin's name, in Volcano's spelling: each enables one of its hooks."""

from __future__ import annotations

from collections.abc import Mapping

from policykit.catalogue.volcano.wording import Release

FLAGS: Mapping[str, Release] = {
    "enableJobOrder": (),
    "enableHierarchy": (),
    "enableJobReady": (),
    "enableJobPipelined": (),
    "enableTaskOrder": (),
    "enablePreemptable": (),
    "enableReclaimable": (),
    "enablePreemptive": (1, 9),
    "enableQueueOrder": (),
    "EnabledClusterOrder": (),
    "enablePredicate": (),
    "enableBestNode": (),
    "enableNodeOrder": (),
    "enableTargetJob": (),
    "enableReservedNodes": (),
    "enableJobEnqueued": (),
    "enabledVictim": (),
    "enableJobStarving": (),
    "enabledOverused": (),
    "enabledAllocatable": (),
    "enabledHyperNodeOrder": (1, 12),
    "enabledSubJobReady": (1, 14),
    "enabledSubJobPipelined": (1, 14),
    "enabledSubJobOrder": (1, 14),
    "enabledHyperNodeGradient": (1, 14),
}
"""Flag to the first release that reads it. The default is true."""

OFF_UNLESS_SET = frozenset({"enableHierarchy", "EnabledClusterOrder"})

HIERARCHY: Mapping[str, Release] = {"drf": (), "capacity": (1, 11), "nodegroup": (1, 13)}
"""Plugins that read enableHierarchy."""
