"""Options of the policy for Koordinator's classes of pods."""

from typing import Literal

from pydantic import Field

from policykit.policy.models.base import Model


class Colocated(Model):
    """The class that the pods of a workload kind run as."""

    priority: Literal["prod", "mid", "batch", "free"] = Field(
        "prod",
        description="prod: on its own resources; mid and batch: on resources that prod requested but does "
        "not use for long, or now; free: wherever there is room.",
    )
    qos: Literal["LSE", "LSR", "LS", "BE"] | None = Field(
        None, description="QoS class. Default: LS with prod and mid, BE with batch and free."
    )
    order: int | None = Field(
        None, ge=0, le=2**31 - 1, description="Order among pods of the same priority: higher goes first."
    )
    tenants: tuple[str, ...] = Field((), description="Only in the namespaces of these. Default: anywhere.")
    namespaces: tuple[str, ...] = Field((), description="Only in these, and in those of `tenants`.")


class Colocation(Model):
    """Classes of pods, set by ClusterColocationProfiles."""

    workloads: dict[str, Colocated] = Field({}, description="Workload kind to the class of its pods.")
    priority_classes: bool = Field(
        False,
        description="Write the PriorityClasses koord-prod, koord-mid, koord-batch and koord-free as well; "
        "Koordinator's chart installs them.",
    )
