"""Accelerator cards as the policy names them."""

from pydantic import Field

from policykit.policy.models.base import Model, Quantity


class Card(Model):
    """A card of the catalogue by its product, or one written in full by its resource."""

    product: str = Field(
        "",
        description="Value of the product label on its nodes, copied from a node: NVIDIA-H20. "
        "`policykit cards` lists those known.",
    )
    resource: str = Field(
        "", description="Extended resource that pods request: nvidia.com/gpu. Default: the catalogue's."
    )
    product_key: str = Field("", description="Node label key of the product. Default: the scheme's.")
    per_node: int | None = Field(None, ge=0, description="Cards in one node. Default: the catalogue's.")
    memory: Quantity | None = Field(None, description="Memory of one card: 96Gi. Default: the catalogue's.")
    labels: dict[str, str] = Field({}, description="Further labels that nodes with this card carry.")
