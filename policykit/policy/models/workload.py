"""Workload kinds: which pools they may and should use, and how they are scheduled and scaled."""

from typing import Annotated, Literal

from pydantic import Field, Tag

from policykit.policy.models.base import BY_FORM, Duration, Model, Quantity

Strategy = Literal["binpack", "spread"]
Weight = Annotated[int, Field(ge=1, le=100)]


class ResourcePlacement(Model):
    """How one resource is scored."""

    strategy: Strategy | None = Field(None, description="binpack or spread. Default: the placement's.")
    weight: Weight = Field(1, description="Weight relative to the other resources, 1 to 100.")


ResourceChoice = Annotated[
    Annotated[Weight, Tag("<int>")] | Annotated[ResourcePlacement, Tag("<map>")], BY_FORM
]


class Point(Model):
    """A point of a shape: the score of a node at a utilization."""

    utilization: int | None = Field(None, ge=0, le=100, description="Utilization of the node in percent.")
    score: int | None = Field(None, ge=0, le=10, description="Its score, 0 to 10.")


class Placement(Model):
    """A placement strategy that workload kinds refer to."""

    strategy: Strategy | None = Field(
        None, description="binpack fills nodes one by one; spread keeps them evenly used."
    )
    resources: dict[str, ResourceChoice] = Field(
        {},
        description="Resource name, or a card, to weight or {strategy, weight}. "
        "Default: derived from the cards.",
    )
    shape: tuple[Point, ...] = Field(
        (),
        description="Score by increasing utilization. Default: a straight line according to strategy.",
    )
    avoid: tuple[str, ...] = Field(
        (), description="Scarce cards or resources: pods that do not request them avoid their nodes."
    )
    scheduler: str = Field(
        "",
        description="schedulerName of the kube-scheduler profile with this placement; the default for "
        "workload kinds that name the placement. Default: none.",
    )


LevelName = Literal["zone", "domain", "rack", "switch", "nvlink"]
Mode = Literal["hard", "soft"]


class Gang(Model):
    """A gang with settings beyond `all`."""

    size: int | None = Field(
        None, ge=1, description="Minimum number of pods that must start together. Default: all pods of a job."
    )
    timeout: Duration | None = Field(
        None,
        description="How long placed pods wait for the rest of the gang: 10m. Default: the scheduler's own.",
    )
    on_timeout: Literal["wait", "start", "fail"] | None = Field(
        None,
        description="wait: release the placed pods and try the gang again; start: run the placed pods; "
        "fail: fail the job. Default: the scheduler's own.",
    )


GangChoice = Annotated[
    Annotated[Literal["all", "none"], Tag("<text>")] | Annotated[Gang, Tag("<map>")], BY_FORM
]


class Within(Model):
    """Keeps the pods of a job within one rack, switch, ..."""

    level: LevelName | None = Field(None, description="Topology level.")
    mode: Mode = Field("soft", description="hard: pods wait until they fit within one; soft: a preference.")


class Across(Model):
    """Spreads the pods of a workload evenly over racks, nodes, ..."""

    level: LevelName | Literal["node"] | None = Field(
        None, description="Topology level, or node for single nodes."
    )
    mode: Mode = Field(
        "soft", description="hard: pods wait until they can be spread evenly; soft: a preference."
    )
    skew: int = Field(1, ge=1, description="Largest allowed difference in pods between any two of them.")


class Metric(Model):
    """A metric (exactly one of resource, pods and external) and its target value."""

    resource: Literal["cpu", "memory"] | None = Field(
        None, description="Resource usage of the pods themselves."
    )
    pods: str = Field("", description="A metric of each pod: vllm_requests_waiting.")
    external: str = Field("", description="A metric from outside the cluster.")
    utilization: int | None = Field(
        None, ge=1, description="Target for a resource, in percent of its requests: 70."
    )
    average: Quantity | None = Field(None, description='Target average per pod: "5", 2Gi.')


class ScaleTarget(Model):
    """A workload to scale."""

    kind: str = Field("Deployment", description="Its kind.")
    api_version: str = Field("apps/v1", description="Its apiVersion.")
    name: str = Field("", description="Its name.")
    namespace: str = Field("", description="Its namespace. Default: the namespace it is applied to.")


class Autoscaling(Model):
    """Bounds and metrics of a workload kind, and the workloads to scale."""

    min: int = Field(1, ge=0, description="Minimum number of pods.")
    max: int | None = Field(None, ge=1, description="Maximum number of pods.")
    metrics: tuple[Metric, ...] = Field(
        (), description="Metrics to scale on. Default: 80 % of the CPU requests."
    )
    targets: tuple[ScaleTarget, ...] = Field((), description="The workloads to scale.")
    cooldown: Duration | None = Field(
        None,
        description="How long load must be lower before pods are removed. Default: that of Kubernetes, 5m.",
    )


class Match(Model):
    """Identifies pod sets of the kind. All given parts must match."""

    kinds: tuple[str, ...] = Field((), description="API kinds: Deployment, or batch.volcano.sh/Job.")
    namespaces: tuple[str, ...] = Field((), description="Namespaces of the object.")
    labels: dict[str, str] = Field({}, description="Labels of the object or its pods.")
    names: tuple[str, ...] = Field((), description="Globs for the object's name.")


MatchChoice = Annotated[Annotated[Match, Tag("<map>")] | Annotated[tuple[Match, ...], Tag("<list>")], BY_FORM]
Cards = Annotated[
    Annotated[Literal["none"], Tag("<text>")] | Annotated[tuple[str, ...], Tag("<list>")], BY_FORM
]


class Workload(Model):
    """A kind of workload, such as training or inference."""

    role: Literal["training", "serving"] | None = Field(
        None,
        description="What its pods do. A training job or a server that requests a card belongs to the only "
        "workload kind with that role. Default: by its usages, training or inference; hybrid says nothing.",
    )
    usages: tuple[str, ...] = Field((), description="Usages of the pools it may run on. Default: any pool.")
    prefer: dict[str, Weight] = Field({}, description="Preferred usages: usage to weight, 1 to 100.")
    cards: Cards | None = Field(None, description="Cards it uses; `none` for none. Default: any.")
    scheduler: str = Field("", description="schedulerName its pods must have. Default: any.")
    gang: GangChoice | None = Field(
        None,
        description="all: the pods of a job start together or not at all; or {size, timeout, onTimeout}.",
    )
    within: Within | None = Field(None, description="How close together the pods of a job are placed.")
    across: Across | None = Field(None, description="Over what the pods of a workload are spread.")
    placement: str = Field(
        "",
        description="A placement of this policy, or binpack, which fills nodes one by one, or spread, "
        "which keeps them evenly used.",
    )
    priority_class: str = Field("", description="PriorityClass of its pods.")
    queue: str = Field("", description="Queue its jobs go to.")
    namespaces: tuple[str, ...] = Field((), description="Namespaces it runs in. Default: any.")
    helpers: tuple[str, ...] | None = Field(
        None,
        description="Pools for its pods that request no card: launchers, drivers, parameter servers. "
        "Default: the pools without cards and without a usage of other workloads.",
    )
    autoscaling: Autoscaling | None = Field(None, description="Bounds and metrics of its replicas.")
    match: MatchChoice = Field((), description="How to identify pod sets of this kind, if not by usage.")
