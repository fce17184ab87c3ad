"""Clusters made by hand: seed 000's, and two alike nodes of any size."""

from collections.abc import Mapping
from typing import Any

from policykit.model.cluster import Cluster, TargetSettings
from policykit.model.pool import Card, Pool, Shape
from policykit.model.queue import Queue
from policykit.model.workload import WorkloadKind
from policykit.targets.volcano.scheduler.configuration import Configuration
from tests.targets.volcano.stated import options as stating

GPU = "nvidia.com/gpu"
GIB = 1 << 30
CPU, MEMORY = 180_000, 1900 * GIB
TRAINING = WorkloadKind(
    "training", ("training", "hybrid"), {"training": 100}, scheduler="volcano", placement="binpack"
)
INFERENCE = WorkloadKind("inference", ("inference", "hybrid"), {"inference": 100})


def pool(name: str, usage: str, nodes: int, cards: int = 8) -> Pool:
    shape = Shape({"cpu": CPU, "memory": MEMORY, GPU: cards}, nodes, nodes)
    return Pool(name, (shape,), usage=usage, card="h20", resources=(GPU,))


POOLS = (
    pool("train-h20", "training", 16),
    pool("infer-h20", "inference", 8),
    pool("hybrid-h20", "hybrid", 4),
)


def cluster(
    *,
    pools: tuple[Pool, ...] = POOLS,
    kinds: tuple[WorkloadKind, ...] = (TRAINING, INFERENCE),
    queues: tuple[Queue, ...] = (),
    options: Mapping[str, Any] | None = None,
    version: str = "",
    delivery: str = "",
) -> Cluster:
    target = TargetSettings("volcano", version, delivery, "volcano", options=stating(options or {}))
    return Cluster(
        "maip",
        pools,
        {"h20": Card("h20", GPU, product="NVIDIA-H20", per_node=8)},
        {kind.name: kind for kind in kinds},
        queues=queues,
        targets={"volcano": target},
    )


def target(made: Cluster) -> TargetSettings:
    return made.targets["volcano"]


def without_paths(configuration: Configuration) -> Configuration:
    """As it is made, before it stands in a file."""
    tiers = (tuple(plugin._replace(path=()) for plugin in tier) for tier in configuration.tiers)
    return configuration._replace(tiers=tuple(tiers))
