"""Workloads whose number of pods follows their load."""

from typing import NamedTuple


class Metric(NamedTuple):
    """What is measured, and the value that replicas are added or removed to keep."""

    source: str
    """resource (cpu or memory), pods (a metric of each pod) or external."""
    name: str
    utilization: int | None = None
    """Percent of requests, for a resource."""
    average: str = ""
    """Quantity for each pod."""


class ScaleTarget(NamedTuple):
    """A workload with a scale subresource."""

    kind: str
    name: str
    namespace: str = ""
    api_version: str = "apps/v1"


class Autoscaling(NamedTuple):
    """Bounds and metrics of a workload kind, and the workloads they hold for."""

    maximum: int
    minimum: int = 1
    metrics: tuple[Metric, ...] = ()
    targets: tuple[ScaleTarget, ...] = ()
    cooldown: int | None = None
    """Seconds of lower load before replicas are removed; None: Kubernetes' own."""
