"""Options of the policy for Koordinator, as it is compiled."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policykit.model.cluster import TargetSettings


def of(settings: TargetSettings | None) -> Mapping[str, Any]:
    """The options; empty where the policy states none."""
    stated = settings.options if settings else None
    return stated if isinstance(stated, Mapping) else {}
