"""Autoscaling of workloads."""

from typing import Literal

from pydantic import Field

from policykit.policy.models.base import Duration, Model, Quantity


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
