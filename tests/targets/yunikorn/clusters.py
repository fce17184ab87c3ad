"""Clusters made by hand, and queue trees of any shape that YuniKorn takes."""

from typing import Any

from hypothesis import strategies as st

from policykit.model.cluster import Cluster, TargetSettings
from policykit.model.pool import Card, Pool, Shape
from policykit.model.queue import Queue, Submitters
from policykit.model.workload import WorkloadKind
from policykit.targets.yunikorn.options import YuniKornOptions

GPU = "nvidia.com/gpu"
GIB = 1 << 30
TRAINING = WorkloadKind("training", ("training",), scheduler="yunikorn", placement="binpack")


def pool(name: str = "train", cards: int = 8) -> Pool:
    shape = Shape({"cpu": 180_000, "memory": 1900 * GIB, GPU: cards}, 4, 4)
    return Pool(name, (shape,), usage="training", card="h20", resources=(GPU,))


def cluster(
    *queues: Queue,
    pools: tuple[Pool, ...] = (pool(),),
    kinds: tuple[WorkloadKind, ...] = (),
    version: str = "",
    delivery: str = "manifest",
    options: YuniKornOptions | None = None,
    **more: Any,
) -> Cluster:
    target = TargetSettings("yunikorn", version, delivery, "yunikorn", options=options)
    return Cluster(
        "maip",
        pools,
        {"h20": Card("h20", GPU, product="NVIDIA-H20", per_node=8)},
        {kind.name: kind for kind in kinds},
        queues=queues,
        targets={"yunikorn": target},
        **more,
    )


def target(made: Cluster) -> TargetSettings:
    return made.targets["yunikorn"]


NAMES = st.sampled_from([f"q{number}" for number in range(9)])
RESOURCES = st.sampled_from(["cpu", "memory", "pods", GPU])
PEOPLE = st.lists(st.sampled_from(["ann", "bob", "cy"]), max_size=2, unique=True).map(tuple)
SUBMITTERS = st.none() | st.builds(Submitters, PEOPLE, PEOPLE) | st.just(Submitters(("*",)))


@st.composite
def trees(draw: st.DrawFn) -> tuple[Queue, ...]:
    """Queues as a policy has them: a tree, amounts in their order, guarantees that fit into parents."""
    names = draw(st.lists(NAMES, unique=True, max_size=6))
    made: dict[str, Queue] = {}
    for name in names:
        parent = draw(st.sampled_from(["", *made]))
        amounts = draw(
            st.dictionaries(RESOURCES, st.lists(st.integers(0, 40), min_size=3, max_size=3).map(sorted))
        )
        said = draw(st.sets(st.sampled_from(["guarantee", "deserved", "limit"])))
        guarantee, deserved, limit = (
            {resource: steps[place] for resource, steps in amounts.items()} if part in said else {}
            for place, part in enumerate(("guarantee", "deserved", "limit"))
        )
        # A policy refuses guarantees that do not fit into a parent's: here only queues at the top have any.
        made[name] = Queue(
            name,
            parent,
            draw(st.integers(1, 3)),
            guarantee if not parent else {},
            deserved,
            limit,
            draw(st.none() | st.integers(0, 9)),
            draw(st.booleans()),
            draw(SUBMITTERS),
        )
    return tuple(made.values())
