"""Options for Kubernetes and its scheduler."""

from typing import Literal

from pydantic import Field

from policykit.policy.models.base import Model


class Scheduler(Model):
    """How scheduler profiles of placements with a schedulerName are run."""

    way: Literal["second", "cluster"] = Field(
        "second",
        alias="as",
        description="second: a second kube-scheduler, as a Deployment, for the pods that name it. cluster: a "
        "configuration file for the control plane's own scheduler.",
    )
    default: str = Field(
        "",
        description="Placement of the profile default-scheduler, with as: cluster. Default: unchanged.",
    )
    namespace: str = Field("kube-system", description="Namespace of a second scheduler.")
    image: str = Field(
        "",
        description="Image of a second scheduler. Default: registry.k8s.io/kube-scheduler of the cluster's "
        "version.",
    )
    replicas: int = Field(1, ge=1, description="Pods of a second scheduler; one is the leader.")


class Kubernetes(Model):
    """Kubernetes itself: nodes, priorities, quotas, autoscalers, scheduler profiles. Always on."""

    delivery: Literal["manifest"] = Field("manifest", description="Plain objects.")
    scheduler: Scheduler | None = Field(
        None, description="How scheduler profiles run. Default: as a second scheduler."
    )
    native_gang: bool = Field(
        False,
        description="Declare gangs with the scheduling API of Kubernetes 1.35 or newer (alpha). "
        "Default: false.",
    )
