"""What the policy may say of Kubernetes and its scheduler alone."""

from typing import Literal

from pydantic import Field

from policykit.policy.models.base import Model


class Kubernetes(Model):
    """Kubernetes itself: nodes, PriorityClasses, ResourceQuotas. Always on."""

    delivery: Literal["manifest"] = Field("manifest", description="Plain objects.")
