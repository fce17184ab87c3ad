"""Shared by all policy models: strictness, key spelling, and values with alternative forms."""

import re
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Discriminator, Field, PlainValidator, WithJsonSchema
from pydantic.alias_generators import to_camel
from pydantic_core import PydanticCustomError

from policykit.model.quantity import parse

Effect = Literal["NoSchedule", "PreferNoSchedule", "NoExecute"]

FORMS = frozenset({"<bool>", "<int>", "<text>", "<map>", "<list>"})
"""Tags of alternative forms in pydantic locations, which are not part of a path."""


class Model(BaseModel):
    """Frozen and strict, with camelCase keys; unknown keys are errors."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", strict=True, alias_generator=to_camel, defer_build=True
    )


def _form(value: Any) -> str:
    """The tag of a value: the alternatives of a union differ only in their YAML type."""
    if isinstance(value, bool):
        return "<bool>"
    if isinstance(value, int):
        return "<int>"
    if isinstance(value, str):
        return "<text>"
    return "<map>" if isinstance(value, (dict, BaseModel)) else "<list>"


BY_FORM = Discriminator(
    _form, custom_error_type="other_form", custom_error_message="has none of the forms allowed here"
)
"""Chooses among alternatives tagged <bool>, <int>, <text>, <map> and <list>."""


def _quantity(value: Any) -> str:
    quantity = parse(value)
    if quantity is None:
        raise PydanticCustomError("quantity", "is not a quantity")
    if quantity.nanos < 0:
        raise PydanticCustomError("below_zero", "is negative")
    return str(value)


Quantity = Annotated[
    Any,
    PlainValidator(_quantity),
    WithJsonSchema(
        {
            "type": ["string", "number"],
            "minimum": 0,
            "pattern": r"^\+?([0-9]+(\.[0-9]*)?|\.[0-9]+)([numkMGTPE]|[KMGTPE]i|[eE][-+]?[0-9]+)?$",
        }
    ),
]
"""Kubernetes quantity: 8, 500m, 1900Gi. Kept as text."""

_DURATION = r"^(?=.)([0-9]+d)?([0-9]+h)?([0-9]+m)?([0-9]+s)?$"
_SECONDS = {"d": 86400, "h": 3600, "m": 60, "s": 1}


def _duration(value: Any) -> int:
    if isinstance(value, str) and len(value) <= _LONGEST and re.fullmatch(_DURATION, value):
        seconds = sum(int(n) * _SECONDS[unit] for n, unit in re.findall(r"([0-9]+)([dhms])", value))
        if seconds:
            return seconds
    raise PydanticCustomError("duration", "is not a duration")


_LONGEST = 20
Duration = Annotated[Any, PlainValidator(_duration), WithJsonSchema({"type": "string", "pattern": _DURATION})]
"""Duration such as 90s, 10m, 1h30m or 7d, above 0. Kept as seconds."""

Amounts = dict[str, Quantity]
"""Resource name, or card of this policy, to amount."""


class TargetOptions(Model):
    """Options that every system has."""

    version: str = Field("", description='Version installed, in quotes: "1.15.1". Default: the newest known.')
    namespace: str = Field("", description="Namespace it is installed in. Default: its chart's.")
