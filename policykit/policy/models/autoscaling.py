"""Workloads whose number of pods follows their load."""

from typing import Literal

from pydantic import Field

from policykit.policy.models.base import Duration, Model, Quantity


class Metric(Model):
    """What is measured, by one of resource, pods and external, and the value that is kept."""

    resource: Literal["cpu", "memory"] | None = Field(
        None, description="Use of a resource of the pods themselves."
    )
    pods: str = Field("", description="A metric that each pod has: vllm_requests_waiting.")
    external: str = Field("", description="A metric of something outside the cluster.")
    utilization: int | None = Field(None, ge=1, description="Percent of the requests, for a resource: 70.")
    average: Quantity | None = Field(None, description='Amount for each pod: "5", 2Gi.')


class ScaleTarget(Model):
    """A workload whose replicas are changed."""

    kind: str = Field("Deployment", description="Its kind.")
    api_version: str = Field("apps/v1", description="Its apiVersion.")
    name: str = Field("", description="Its name.")
    namespace: str = Field("", description="Its namespace. Default: the one that is applied to.")


class Autoscaling(Model):
    """Bounds and metrics of a workload kind, and the workloads they hold for."""

    min: int = Field(1, ge=0, description="Fewest pods.")
    max: int | None = Field(None, ge=1, description="Most pods.")
    metrics: tuple[Metric, ...] = Field(
        (), description="What is measured. Default: 80 % of the cpu requests."
    )
    targets: tuple[ScaleTarget, ...] = Field((), description="The workloads they hold for.")
    cooldown: Duration | None = Field(
        None, description="Time of lower load before pods are removed. Default: Kubernetes' own, 5m."
    )
