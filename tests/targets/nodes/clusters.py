"""Clusters of one H20 pool, made by hand, whose nodes are known in different ways."""

from collections.abc import Mapping

from policykit.generator.artifact import TargetOutput
from policykit.model.cluster import Cluster
from policykit.model.pool import Card, Pool, Shape, Taint
from policykit.targets.nodes.generate import generate

GPU = "nvidia.com/gpu"
PRODUCT = f"{GPU}.product"
USAGE = "maip.mxsf.io/node.usage"
RACK = "maip.mxsf.io/rack"
ZONE = "topology.kubernetes.io/zone"
CARD = Card("h20", GPU, "nvidia", "NVIDIA-H20", PRODUCT, per_node=8)
TAINTS = (Taint(USAGE, "training"), Taint(PRODUCT, "NVIDIA-H20"))
LABELS = {USAGE: "training", PRODUCT: "NVIDIA-H20"}

COUNTED = Shape({GPU: 8}, 4, 4)
SCALED = Shape({GPU: 8}, 0, 6)
NAMED = Shape({GPU: 8}, 2, 2, ("gpu-02", "gpu-01"))
SELECTED = Shape({GPU: 8}, selector={"maip.mxsf.io/pool": "a"}, labels={"maip.mxsf.io/pool": "a"})


def pool(
    *shapes: Shape,
    name: str = "train-h20",
    labels: Mapping[str, str] = LABELS,
    taints: tuple[Taint, ...] = TAINTS,
    card: str = "h20",
) -> Pool:
    return Pool(
        name,
        shapes or (COUNTED,),
        labels,
        taints,
        "training",
        card,
        (GPU,) if card else (),
        discovered=frozenset({PRODUCT}),
        autoscaled=any(shape.maximum not in (None, shape.minimum) for shape in shapes),
    )


def cluster(
    *pools: Pool,
    provider: str = "",
    version: str = "",
    control_plane: Taint | None = None,
    forms: tuple[str, ...] | None = None,
    card: Card = CARD,
) -> Cluster:
    return Cluster(
        "maip",
        pools or (pool(),),
        {"h20": card},
        usage_key=USAGE,
        control_plane_taint=control_plane,
        provider=provider,
        kubernetes_version=version,
        node_forms=forms,
    )


def texts(made: Cluster) -> dict[str, str]:
    """Path to text of what is generated."""
    return {artifact.path: artifact.text for artifact in generate(made).artifacts}


def notices(generated: TargetOutput) -> list[str]:
    return [notice.message for notice in generated.notices]
