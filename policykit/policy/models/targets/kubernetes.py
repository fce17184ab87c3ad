"""What the policy may say of Kubernetes and its scheduler alone."""

from typing import Literal

from pydantic import Field

from policykit.policy.models.base import Model


class Scheduler(Model):
    """How the profiles of placements that state a scheduler come to run."""

    way: Literal["second", "cluster"] = Field(
        "second",
        alias="as",
        description="second: kube-scheduler once more, as a Deployment for the pods that name it. cluster: a "
        "configuration file for the control plane's own scheduler.",
    )
    default: str = Field(
        "",
        description="Placement of the profile default-scheduler, with as: cluster. Default: it "
        "stays as it is.",
    )
    namespace: str = Field("kube-system", description="Namespace of a second scheduler.")
    image: str = Field(
        "",
        description="Image of a second scheduler. Default: registry.k8s.io/kube-scheduler of the cluster's "
        "version.",
    )
    replicas: int = Field(1, ge=1, description="Pods of a second scheduler; one of them leads.")


class Kubernetes(Model):
    """Kubernetes itself: nodes, priorities, quotas, autoscalers, scheduler profiles. Always on."""

    delivery: Literal["manifest"] = Field("manifest", description="Plain objects.")
    scheduler: Scheduler | None = Field(
        None, description="How scheduler profiles run. Default: as a second scheduler."
    )
    native_gang: bool = Field(
        False,
        description="Gangs by the scheduling API of the stated Kubernetes version, 1.35 or newer (alpha). "
        "Default: not.",
    )
