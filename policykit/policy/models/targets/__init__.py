"""Systems the policy generates for: one module each, with its own options."""

from pydantic import Field

from policykit.policy.models.base import Model
from policykit.policy.models.targets.koordinator import Koordinator
from policykit.policy.models.targets.kubernetes import Kubernetes
from policykit.policy.models.targets.kueue import Kueue
from policykit.policy.models.targets.volcano import Volcano
from policykit.policy.models.targets.yunikorn import Yunikorn


class Targets(Model):
    """The systems to generate for."""

    kubernetes: Kubernetes | None = Field(None, description="Kubernetes itself, always on.")
    volcano: Volcano | None = Field(None, description="Volcano.")
    koordinator: Koordinator | None = Field(None, description="Koordinator.")
    yunikorn: Yunikorn | None = Field(None, description="Apache YuniKorn.")
    kueue: Kueue | None = Field(None, description="Kueue, which admits jobs of the default scheduler.")
