"""What the policy may say of Apache YuniKorn alone."""

from typing import Literal

from pydantic import Field

from policykit.policy.models.targets.target import Target


class Yunikorn(Target):
    """Apache YuniKorn. Known so far as a scheduler that serves pods."""

    delivery: Literal["helm-values", "manifest"] = Field("helm-values", description="How it is configured.")
    scheduler_name: str = Field("yunikorn", description="schedulerName it serves.")
