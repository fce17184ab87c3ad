"""A cluster with zones, racks and NVLink domains, made by hand, and strategies for others."""

from hypothesis import strategies as st

from policykit.model.cluster import Cluster, TargetSettings
from policykit.model.pool import Card, Pool, Shape
from policykit.model.topology import Level
from policykit.model.workload import WorkloadKind
from tests.targets.volcano.clusters import GPU

LEVELS = (
    Level("zone", "topology.kubernetes.io/zone"),
    Level("rack", "maip.io/rack"),
    Level("nvlink", "nvidia.com/gpu.clique"),
)
KEYS = {level.name: level.key for level in LEVELS}


def shape(*names: str, **places: str) -> Shape:
    return Shape({GPU: 8}, len(names), len(names), names, labels={KEYS[k]: v for k, v in places.items()})


def pool(name: str, *shapes: Shape, **places: str) -> Pool:
    return Pool(name, shapes, {KEYS[k]: v for k, v in places.items()}, card="h20", resources=(GPU,))


RACKS = (
    pool("train", shape("n1", "n2", rack="r1", nvlink="c1"), shape("n3", rack="r1", nvlink="c2"), zone="a"),
    pool("infer", shape("n4", rack="r2"), zone="a"),
    pool("cpu", shape("n5"), zone="b"),
)


def cluster(
    *kinds: WorkloadKind,
    pools: tuple[Pool, ...] = RACKS,
    version: str = "",
    levels: tuple[Level, ...] = LEVELS,
) -> Cluster:
    return Cluster(
        "racks",
        pools,
        {"h20": Card("h20", GPU, per_node=8)},
        {kind.name: kind for kind in kinds},
        targets={"volcano": TargetSettings("volcano", version, scheduler_name="volcano")},
        levels=levels,
    )


_VALUES = st.sampled_from(["a", "b", "A", "a.b", "a_b", "x" * 63, "r-1"])
_SHAPES = st.dictionaries(st.sampled_from(sorted(KEYS)), _VALUES, max_size=3).map(
    lambda places: shape("n", **places)
)
POOLS = st.lists(st.lists(_SHAPES, max_size=4), max_size=3).map(
    lambda made: tuple(pool(f"p{number}", *shapes) for number, shapes in enumerate(made))
)
