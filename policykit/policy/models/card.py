"""Accelerator cards by the names the policy gives them."""

from pydantic import Field

from policykit.policy.models.base import Model, Quantity


class Card(Model):
    """A card from the catalogue, given by its product, or any other card, given by its resource."""

    product: str = Field(
        "",
        description="Value of the product label of its nodes, as on a node: NVIDIA-H20. "
        "`policykit cards` lists known values.",
    )
    resource: str = Field(
        "", description="Extended resource that pods request: nvidia.com/gpu. Default: the catalogue's."
    )
    product_key: str = Field("", description="Node label key of the product. Default: the scheme's.")
    per_node: int | None = Field(None, ge=0, description="Cards per node. Default: the catalogue's.")
    memory: Quantity | None = Field(None, description="Memory per card: 96Gi. Default: the catalogue's.")
    labels: dict[str, str] = Field({}, description="Additional labels of nodes with this card.")
