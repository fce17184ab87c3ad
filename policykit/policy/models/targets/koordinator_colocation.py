"""What the policy may say of Koordinator's classes of pods."""

from typing import Literal

from pydantic import Field

from policykit.policy.models.base import Model


class Colocated(Model):
    """What the pods of a workload kind run as."""

    priority: Literal["prod", "mid", "batch", "free"] = Field(
        "prod",
        description="prod: on resources of its own; mid and batch: on what prod has requested and leaves "
        "unused for long, or now; free: where there is room.",
    )
    qos: Literal["LSE", "LSR", "LS", "BE"] | None = Field(
        None, description="QoS class. Default: LS with prod and mid, BE with batch and free."
    )
    order: int | None = Field(
        None, ge=0, le=2**31 - 1, description="Among pods of the same priority: more goes first."
    )
    tenants: tuple[str, ...] = Field((), description="Only in the namespaces of these. Default: anywhere.")
    namespaces: tuple[str, ...] = Field((), description="Only in these, and in those of `tenants`.")


class Colocation(Model):
    """Classes of pods, given to them by ClusterColocationProfiles."""

    workloads: dict[str, Colocated] = Field({}, description="Workload kind to what its pods run as.")
    priority_classes: bool = Field(
        False,
        description="Write the PriorityClasses koord-prod, koord-mid, koord-batch and koord-free as well; "
        "Koordinator's chart installs them.",
    )
