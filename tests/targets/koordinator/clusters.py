"""Clusters that the tests of this target share."""

from collections.abc import Mapping
from typing import Any

from policykit.model.cluster import Cluster, TargetSettings
from policykit.model.pool import Card, Pool, Shape
from policykit.model.workload import WorkloadKind
from tests.targets.koordinator.options import koordinator_options

DONGLE = "example.com/dongle"
GIB = 2**30
SEED_FIT = {
    DONGLE: {"type": "MostAllocated", "weight": 20},
    "cpu": {"type": "LeastAllocated", "weight": 2},
    "memory": {"type": "LeastAllocated", "weight": 1},
}
NODE = {"cpu": 2000, "memory": 2200 * 2**20, DONGLE: 8}


def dongles(
    *,
    version: str = "",
    delivery: str = "",
    fit: dict[str, Any] | None = None,
    config: str = "",
    workloads: tuple[WorkloadKind, ...] = (),
    pool: Pool | None = None,
    namespace: str = "",
    args: Mapping[str, Mapping[str, Any]] | None = None,
) -> Cluster:
    """Seed 003's cluster: two untainted workers of 2 cpu and 8 dongles."""
    workers = Pool("workers", (Shape(NODE, 2, 2),), card="dongle", resources=(DONGLE,))
    options: dict[str, Any] = {"fit": SEED_FIT if fit is None else fit}
    options.update(args or {})
    if config:
        options["config"] = config
    return Cluster(
        "seed-003",
        (pool or workers,),
        {"dongle": Card("dongle", DONGLE, per_node=8)},
        {kind.name: kind for kind in workloads},
        targets={
            "koordinator": TargetSettings(
                "koordinator", version, delivery, "", namespace, koordinator_options(**options)
            )
        },
    )
