"""Placements: how pods are distributed over the nodes that fit."""

from typing import Annotated, Literal

from pydantic import Field, Tag

from policykit.policy.models.base import BY_FORM, Model

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
