"""Policies with everything the configuration is made from, for one release each."""

from typing import Any

from policykit.model.cluster import Cluster, TargetSettings
from policykit.model.gang import GangRule
from policykit.model.pool import Card, Pool, Shape
from policykit.model.queue import Preemption, Queue
from policykit.model.topology import TopologyAffinity
from policykit.model.workload import Placement, Point, ResourcePlacement, WorkloadKind
from tests.targets.koordinator.options import koordinator_options

GPU = "nvidia.com/gpu"
NAME = "koord-scheduler"
DENSE = Placement(
    "dense",
    "binpack",
    {GPU: ResourcePlacement("binpack", 10), "cpu": ResourcePlacement("spread")},
    avoid=(GPU,),
)
WIDE = Placement("wide", "spread", scheduler="koord-wide")
SHAPED = Placement("shaped", "binpack", {GPU: ResourcePlacement("binpack")}, (Point(0, 0), Point(100, 10)))
LOAD = {"usageThresholds": {"cpu": 70, "memory": 90}, "weight": 2}
NEW_LOAD = {**LOAD, "dominantResourceWeight": 5, "supportedResources": ["kubernetes.io/batch-cpu"]}
TRAINING = WorkloadKind(
    "training",
    scheduler=NAME,
    gang="all",
    queue="team-a",
    placement="binpack",
    placement_name="dense",
    gang_rule=GangRule(4, 1200),
    within=TopologyAffinity("rack"),
)
WEB = WorkloadKind("web", scheduler="koord-wide", placement="spread", placement_name="wide")
RECLAIM = Preemption(reclaim=True)
NODE = {"cpu": 96000, "memory": 2**40, GPU: 8}


def cluster(
    version: str = "",
    *,
    placements: tuple[Placement, ...] = (DENSE, WIDE),
    workloads: tuple[WorkloadKind, ...] = (TRAINING, WEB),
    options: dict[str, Any] | None = None,
    schedulers: tuple[str, ...] | None = None,
    config: str = "",
    delivery: str = "",
    preemption: Preemption = RECLAIM,
    queues: tuple[Queue, ...] = (Queue("team-a", limit={GPU: 16}),),
) -> Cluster:
    """Two nodes of 8 cards; two placements, one with a profile of its own."""
    stated: dict[str, Any] = {"load_aware": LOAD} if options is None else options
    if schedulers is None:
        schedulers = ("koord-wide",) if options is None else ()
    if config:
        stated = {**stated, "config": config}
    return Cluster(
        "kc",
        (Pool("train", (Shape(NODE, 2, 2),), card="h20", resources=(GPU,)),),
        {"h20": Card("h20", GPU, per_node=8)},
        {kind.name: kind for kind in workloads},
        queues=queues,
        targets={
            "koordinator": TargetSettings(
                "koordinator", version, delivery, NAME, "", koordinator_options(**stated), schedulers
            )
        },
        placements={placement.name: placement for placement in placements},
        preemption=preemption,
    )
