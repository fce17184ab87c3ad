"""The nodes of a pool: a number, a range, names, a selector, or several shapes."""

from typing import Annotated

from pydantic import Field, Tag

from policykit.policy.models.base import BY_FORM, Amounts, Model


class NodeSet(Model):
    """Nodes by range (autoscaled), by name, or by label. Exactly one of the three."""

    min: int | None = Field(
        None, ge=0, description="Minimum number of nodes; 0 for a pool that can scale to zero."
    )
    max: int | None = Field(None, ge=0, description="Maximum number of nodes. Default: unlimited.")
    names: tuple[str, ...] | None = Field(
        None, description='Node names; "gpu-[01-16]" stands for sixteen nodes.'
    )
    selector: dict[str, str] | None = Field(
        None, description="Labels that select the nodes, if their number is not set here."
    )


NodesChoice = Annotated[
    Annotated[Annotated[int, Field(ge=0)], Tag("<int>")] | Annotated[NodeSet, Tag("<map>")], BY_FORM
]


class NodeShape(Model):
    """Nodes of the same size within a pool."""

    nodes: NodesChoice | None = Field(None, description="Their number, or which nodes they are.")
    allocatable: Amounts | None = Field(
        None, description="Allocatable amounts per node. Default: the pool's."
    )
    cards_per_node: int | None = Field(None, ge=0, description="Default: the pool's.")
    labels: dict[str, str] = Field({}, description="Labels of these nodes in addition to the pool's.")


Nodes = Annotated[
    Annotated[Annotated[int, Field(ge=0)], Tag("<int>")]
    | Annotated[NodeSet, Tag("<map>")]
    | Annotated[tuple[NodeShape, ...], Tag("<list>")],
    BY_FORM,
]


class Place(Model):
    """Topology of nodes, widest level first."""

    zone: str = Field("", description="Value of the zone label.")
    domain: str = Field("", description="Value of the network domain label.")
    rack: str = Field("", description="Value of the rack label.")
    switch: str = Field("", description="Value of the switch label.")
    nvlink: str = Field("", description="Value of the NVLink domain label.")


class PlaceOf(Place):
    """Topology of some nodes of a pool."""

    nodes: tuple[str, ...] = Field((), description='Node names, globs ("gpu-0*") or ranges ("gpu-[01-08]").')


Topology = Annotated[Annotated[Place, Tag("<map>")] | Annotated[tuple[PlaceOf, ...], Tag("<list>")], BY_FORM]
