"""Plugins of the scheduler, with their flags and arguments."""

from __future__ import annotations

from collections.abc import Mapping

from policykit.namedtuple import NamedTuple
from policykit.targets.volcano.scheduler.actions import Argument
from policykit.targets.volcano.versions import Release


class Plugin(NamedTuple):
    """The arguments of a scheduler plugin."""

    since: Release = ()
    arguments: Mapping[str, Argument] = {}
    prefixed: Mapping[str, Argument] = {}
    """Arguments with a prefix and a variable name: a resource, a zone."""
    tier: int = 2
    """Its default tier. Victims are decided by the first tier, and
    sla can move a waiting job ahead of all others only from there."""


def _weight(default: int = 1, since: Release = (), gone: Release = (), least: int = 0) -> Argument:
    return Argument("whole", default, since, gone, least)


def _switch(default: bool | None, since: Release = (), gone: Release = ()) -> Argument:
    return Argument("switch", default, since, gone)


_TEXT = Argument("text")
_RESCHEDULING = Argument(
    "map",
    fields={
        "name": Argument("text", choices=("lowNodeUtilization",)),
        "params": Argument(
            "map",
            fields={
                name: Argument(
                    "map", fields={resource: Argument("whole", least=0) for resource in ("cpu", "memory")}
                )
                for name in ("thresholds", "targetThresholds")
            },
        ),
    },
)
_STRATEGY = Argument(
    "map",
    fields={
        "type": Argument("text", choices=("MostAllocated", "LeastAllocated")),
        "weight": _weight(1, least=1),
    },
)
_SCARCE = Argument(
    "map",
    fields={
        "enable": _switch(False),
        "resources": Argument("names"),
        "weight": _weight(1),
        "resourceWeight": Argument("map", each=_weight(1)),
    },
)
_PROPORTIONAL = Argument(
    "map",
    fields={
        "enable": _switch(False),
        "resources": Argument("names"),
        "resourceProportion": Argument("map", each=Argument("number", least=0)),
    },
)
_SHAPE = Argument(
    "list", each=Argument("map", fields={"utilization": _weight(0), "score": _weight(0)}), since=(1, 12)
)
_MANAGED = Argument("list", since=(1, 13), each=_TEXT)
_EXTENDER_VERBS = (
    "onSessionOpen",
    "onSessionClose",
    "predicate",
    "prioritize",
    "preemptable",
    "reclaimable",
    "queueOverused",
    "jobEnqueueable",
    "jobReady",
)

PLUGINS: Mapping[str, Plugin] = {
    "priority": Plugin(tier=1),
    "gang": Plugin(tier=1),
    "conformance": Plugin(tier=1),
    "sla": Plugin(arguments={"sla-waiting-time": Argument("duration")}, tier=1),
    "pdb": Plugin((1, 9), tier=1),
    "cdp": Plugin(tier=1),
    "overcommit": Plugin(arguments={"overcommit-factor": Argument("number", 1.2, least=1)}),
    "drf": Plugin(),
    "predicates": Plugin(
        arguments={
            **{
                f"predicate.{name}Enable": _switch(True)
                for name in (
                    "NodeAffinity",
                    "NodePorts",
                    "TaintToleration",
                    "PodAffinity",
                    "NodeVolumeLimits",
                    "VolumeZone",
                    "PodTopologySpread",
                )
            },
            "predicate.VolumeBindingEnable": _switch(True, (1, 12)),
            "predicate.CacheEnable": _switch(False),
            "volumebinding.bindTimeoutSeconds": _weight(600, (1, 12)),
            "volumebinding.weight": _weight(1, (1, 12)),
            "volumebinding.shape": _SHAPE,
            "predicate.DynamicResourceAllocationEnable": _switch(False, (1, 12), (1, 15)),
            "dynamicresources.filterTimeoutSeconds": _weight(10, (1, 14)),
            "predicate.GPUSharingEnable": _switch(False, gone=(1, 9)),
            "predicate.GPUNumberEnable": _switch(False, gone=(1, 9)),
            "predicate.NodeLockEnable": _switch(False, gone=(1, 9)),
            "predicate.VGPUEnable": _switch(False, gone=(1, 9)),
            "predicate.ProportionalEnable": _switch(False, gone=(1, 13)),
            "predicate.resources": Argument("names", gone=(1, 13)),
        },
        prefixed={"predicate.resources.": Argument("number", gone=(1, 13))},
    ),
    "proportion": Plugin(),
    "capacity": Plugin(
        (1, 9),
        {
            "ancestorReclaimLevel": _weight(0, (1, 15)),
            "capacity.DynamicResourceAllocationEnable": _switch(None, (1, 15)),
            "capacity.DRAConsumableCapacityEnable": _switch(None, (1, 15)),
        },
    ),
    "nodegroup": Plugin(
        (1, 9), {"strict": _switch(True, (1, 13)), "enablePreferredOrder": _switch(False, (1, 15))}
    ),
    "deviceshare": Plugin(
        (1, 9),
        {
            "deviceshare.GPUSharingEnable": _switch(False),
            "deviceshare.GPUNumberEnable": _switch(False),
            "deviceshare.NodeLockEnable": _switch(False),
            "deviceshare.VGPUEnable": _switch(False),
            "deviceshare.AscendMindClusterVNPUEnable": _switch(False, (1, 14)),
            "deviceshare.AscendHAMiVNPUEnable": _switch(False, (1, 14)),
            "deviceshare.SchedulePolicy": Argument("text", "", choices=("", "binpack", "spread")),
            "deviceshare.ScheduleWeight": _weight(0),
            "deviceshare.KnownGeometriesCMName": Argument("text", "volcano-vgpu-device-config", (1, 12)),
            "deviceshare.KnownGeometriesCMNamespace": Argument("text", "kube-system", (1, 12)),
            "deviceshare.GPUExclusiveRules": Argument(
                "list", since=(1, 15), each=Argument("map", each=_TEXT)
            ),
        },
    ),
    "nodeorder": Plugin(
        arguments={
            "leastrequested.weight": _weight(1),
            "mostrequested.weight": _weight(0),
            "balancedresource.weight": _weight(1),
            "nodeaffinity.weight": _weight(2),
            "podaffinity.weight": _weight(2),
            "tainttoleration.weight": _weight(3),
            "imagelocality.weight": _weight(1),
            "podtopologyspread.weight": _weight(2),
            "selectorspread.weight": _weight(0, gone=(1, 9)),
        }
    ),
    "binpack": Plugin(
        arguments={
            "binpack.weight": _weight(),
            "binpack.cpu": _weight(),
            "binpack.memory": _weight(),
            "binpack.resources": Argument("names"),
        },
        prefixed={"binpack.resources.": _weight()},
    ),
    "resource-strategy-fit": Plugin(
        (1, 13),
        {
            "resourceStrategyFitWeight": _weight(10),
            "resources": Argument("map", each=_STRATEGY),
            "sra": _SCARCE,
            "proportional": _PROPORTIONAL,
        },
    ),
    "network-topology-aware": Plugin(
        (1, 12),
        {
            "weight": _weight(),
            "hypernode.binpack.cpu": _weight(1, (1, 14)),
            "hypernode.binpack.memory": _weight(1, (1, 14)),
            "hypernode.binpack.resources": Argument("names", since=(1, 14)),
            "hypernode.binpack.normal-pod.enable": _switch(True, (1, 14)),
            "hypernode.binpack.normal-pod.fading": Argument("number", 0.8, (1, 14), least=0),
            "hypernode.gradient.evict.max-hypernodes": _weight(8, (1, 15), least=1),
        },
        {"hypernode.binpack.resources.": _weight(1, (1, 14))},
    ),
    "task-topology": Plugin(arguments={"task-topology.weight": _weight()}),
    "numa-aware": Plugin(arguments={"weight": _weight()}),
    "tdm": Plugin(
        arguments={"tdm.evict.period": Argument("duration", "1m")},
        prefixed={"tdm.revocable-zone.": Argument("hours")},
    ),
    "rescheduling": Plugin(
        arguments={
            "interval": Argument("duration", "5m"),
            "metricsPeriod": Argument("duration", "5m"),
            "strategies": Argument("list", each=_RESCHEDULING),
        }
    ),
    "usage": Plugin(
        arguments={
            "usage.weight": _weight(5),
            "cpu.weight": _weight(),
            "memory.weight": _weight(),
            "thresholds": Argument(
                "map", fields=dict.fromkeys(("cpu", "mem"), _weight(80)._replace(since=(1, 8, 2)))
            ),
        }
    ),
    "extender": Plugin(
        arguments={
            "extender.urlPrefix": _TEXT,
            "extender.httpTimeout": Argument("duration", "1s"),
            **{f"extender.{verb}Verb": _TEXT for verb in _EXTENDER_VERBS},
            "extender.allocateFuncVerb": Argument("text", since=(1, 13)),
            "extender.deallocateFuncVerb": Argument("text", since=(1, 13)),
            "extender.ignorable": _switch(False),
            "extender.managedResources": _MANAGED,
        }
    ),
    "resourcequota": Plugin(),
}
"""Every plugin, in the order in which a tier lists them."""

PREEMPTABLE = ("priority", "gang", "conformance", "drf", "pdb", "cdp", "tdm")
"""Plugins that choose victims within a queue; extender only if its verb is set."""
RECLAIMABLE = ("gang", "conformance", "proportion", "capacity", "pdb", "cdp")
"""The same among queues; drf with enableHierarchy, extender if its verb is set."""
SHUFFLED = ("tdm", "rescheduling")
"""Plugins that select pods for action shuffle to evict."""
MEASURED = ("usage", "rescheduling")
"""Plugins that need `metrics`."""


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
