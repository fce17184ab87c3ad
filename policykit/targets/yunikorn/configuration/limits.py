"""`limits` of a queue: what one user or group may use, written and read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from policykit.targets.yunikorn.configuration.shape import names, text, texts, whole, without_unset


class Limit(NamedTuple):
    """An entry; the order of entries counts."""

    description: str = ""
    users: tuple[str, ...] = ()
    """`*` is everybody who is not named."""
    groups: tuple[str, ...] = ()
    resources: Mapping[str, str] = {}
    applications: int = 0
    """0: unlimited."""


def write(limit: Limit) -> dict[str, Any]:
    return without_unset(
        {
            "limit": limit.description,
            "users": list(limit.users),
            "groups": list(limit.groups),
            "maxapplications": limit.applications,
            "maxresources": dict(sorted(limit.resources.items())),
        }
    )


def read(data: Mapping[str, Any]) -> Limit:
    return Limit(
        text(data.get("limit")),
        names(data.get("users")),
        names(data.get("groups")),
        texts(data.get("maxresources")),
        whole(data.get("maxapplications")),
    )
