"""What every system of `targets` has."""

from pydantic import Field

from policykit.policy.models.base import Model


class Target(Model):
    """What every system has."""

    version: str = Field("", description='Version installed, in quotes: "1.15.1". Default: the newest known.')
    namespace: str = Field("", description="Namespace it is installed in. Default: its chart's.")
