"""Placements: how pods are laid out on the nodes that fit."""

from typing import Annotated, Literal

from pydantic import Field, Tag

from policykit.policy.models.base import BY_FORM, Model

Strategy = Literal["binpack", "spread"]
Weight = Annotated[int, Field(ge=1, le=100)]


class ResourcePlacement(Model):
    """What one resource counts for."""

    strategy: Strategy | None = Field(None, description="binpack or spread. Default: the placement's.")
    weight: Weight = Field(1, description="Its weight against the other resources, 1 to 100.")


ResourceChoice = Annotated[
    Annotated[Weight, Tag("<int>")] | Annotated[ResourcePlacement, Tag("<map>")], BY_FORM
]


class Point(Model):
    """A point of a shape: the score of a node that is used so much."""

    utilization: int | None = Field(None, ge=0, le=100, description="Use of the node in percent.")
    score: int | None = Field(None, ge=0, le=10, description="Its score, 0 to 10.")


class Placement(Model):
    """A way of placing that workload kinds name."""

    strategy: Strategy | None = Field(
        None, description="binpack fills nodes one by one, spread keeps them evenly used."
    )
    resources: dict[str, ResourceChoice] = Field(
        {},
        description="Resource name, or a card, to its weight or {strategy, weight}. "
        "Default: chosen from the cards.",
    )
    shape: tuple[Point, ...] = Field(
        (), description="Score by use, in growing utilization. Default: a straight line as strategy says."
    )
    avoid: tuple[str, ...] = Field(
        (), description="Scarce cards or resources: pods that do not request them stay off their nodes."
    )
    scheduler: str = Field(
        "",
        description="schedulerName of the kube-scheduler profile that places so. Kinds that name the "
        "placement and no scheduler have it. Default: none.",
    )
