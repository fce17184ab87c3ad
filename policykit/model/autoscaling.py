"""Workloads whose number of pods follows their load."""

from typing import NamedTuple


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
