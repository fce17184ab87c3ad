"""Workload kinds: what runs on the cluster, where it may and should run, and how it scales."""

from collections.abc import Mapping

from policykit.model.gang import GangRule
from policykit.model.topology import TopologyAffinity, TopologySpread
from policykit.namedtuple import NamedTuple

BINPACK, SPREAD = "binpack", "spread"


class Point(NamedTuple):
    """A node used to `utilization` percent scores `score`; straight lines between points."""

    utilization: int
    """0 to 100."""
    score: int
    """0 to 10."""


class ResourcePlacement(NamedTuple):
    """Strategy and weight of a resource."""

    strategy: str
    """binpack or spread."""
    weight: int = 1
    """1 to 100."""


class Placement(NamedTuple):
    """A placement that workload kinds refer to by name."""

    name: str
    strategy: str
    """binpack or spread: for resources that are not listed."""
    resources: Mapping[str, ResourcePlacement] = {}
    """Resource name to strategy and weight; empty: each target chooses from the cards."""
    shape: tuple[Point, ...] = ()
    """Score by utilization, in ascending order; empty: linear, according to `strategy`."""
    avoid: tuple[str, ...] = ()
    """Scarce resources: pods that do not request them avoid their nodes if possible."""
    scheduler: str = ""
    """schedulerName of the scheduler profile with this placement; empty: not stated."""


class Metric(NamedTuple):
    """A metric and its target value."""

    source: str
    """resource (cpu or memory), pods (a metric of each pod) or external."""
    name: str
    utilization: int | None = None
    """Target percentage of requests, for a resource."""
    average: str = ""
    """Target quantity per pod."""


class ScaleTarget(NamedTuple):
    """A workload with a scale subresource."""

    kind: str
    name: str
    namespace: str = ""
    api_version: str = "apps/v1"


class Autoscaling(NamedTuple):
    """Bounds and metrics of a workload kind, and the workloads they apply to."""

    maximum: int
    minimum: int = 1
    metrics: tuple[Metric, ...] = ()
    targets: tuple[ScaleTarget, ...] = ()
    cooldown: int | None = None
    """Seconds of lower load before replicas are removed; None: Kubernetes' default."""


class Match(NamedTuple):
    """Conditions that identify pod sets of a workload kind. All must hold; empty ones are ignored."""

    api_kinds: tuple[str, ...] = ()
    """`Deployment` or `batch.volcano.sh/Job`."""
    namespaces: tuple[str, ...] = ()
    labels: Mapping[str, str] = {}
    names: tuple[str, ...] = ()
    """Globs over the object's name."""


class WorkloadKind(NamedTuple):
    """A workload kind of the policy: training, inference, ..."""

    name: str
    usages: tuple[str, ...] = ()
    """Usages it may run on, in the policy's order. Empty: any pool."""
    prefer: Mapping[str, int] = {}
    """Usage to weight 1..100."""
    cards: tuple[str, ...] | None = None
    """Cards it uses; None: any; (): it uses none."""
    scheduler: str = ""
    """Required schedulerName; empty: any."""
    gang: str = ""
    """all: every pod of the job starts together; none; empty: not stated."""
    placement: str = ""
    """binpack, spread or empty."""
    priority_class: str = ""
    queue: str = ""
    namespaces: tuple[str, ...] = ()
    helpers: tuple[str, ...] | None = None
    """Pools for its pod sets that request no card; None: the pools without cards."""
    match: tuple[Match, ...] = ()
    role: str = ""
    """training or serving: what its pods do; empty: neither stated nor said by its usages."""
    placement_name: str = ""
    """Name of its placement in `Cluster.placements`; empty: `placement` alone is stated, or nothing."""
    gang_rule: GangRule | None = None
    """Settings of the gang, if the policy states any."""
    within: TopologyAffinity | None = None
    across: TopologySpread | None = None
    autoscaling: Autoscaling | None = None
