"""Clusters made by hand: pools of one card, placements and the kinds they are for."""

from typing import Any

from policykit.model.cluster import Cluster, TargetSettings
from policykit.model.pool import Card, Pool, Shape
from policykit.model.workload import Placement, WorkloadKind
from policykit.targets.kubernetes.options import KubernetesOptions

GPU = "nvidia.com/gpu"
GIB = 1 << 30
DENSE = Placement("dense", "binpack", scheduler="dense-scheduler")
TRAINING = WorkloadKind(
    "training", ("train", "hybrid"), {"train": 100}, scheduler="dense-scheduler", placement_name="dense"
)


def pool(name: str, usage: str = "train", nodes: int = 4, cards: int = 8, resource: str = GPU) -> Pool:
    shape = Shape({"cpu": 180_000, "memory": 1900 * GIB, resource: cards}, nodes, nodes)
    return Pool(name, (shape,), usage=usage, card="h20", resources=(resource,))


POOLS = (pool("train-h20"), pool("hybrid-h20", "hybrid"))


def cluster(
    *placements: Placement,
    pools: tuple[Pool, ...] = POOLS,
    kinds: tuple[WorkloadKind, ...] = (TRAINING,),
    version: str = "1.36",
    options: KubernetesOptions | None = None,
    others: tuple[TargetSettings, ...] = (),
    **fields: Any,
) -> Cluster:
    own = TargetSettings("kubernetes", version, "manifest", "default-scheduler", options=options)
    return Cluster(
        "maip",
        pools,
        {"h20": Card("h20", GPU, product="NVIDIA-H20", per_node=8)},
        {kind.name: kind for kind in kinds},
        usage_key="example.com/usage",
        placements={placement.name: placement for placement in placements},
        targets={target.name: target for target in (own, *others)},
        kubernetes_version=version,
        **fields,
    )


def messages(made: Cluster) -> list[str]:
    from policykit.targets.kubernetes.generate import generate

    return [notice.message for notice in generate(made).notices]
