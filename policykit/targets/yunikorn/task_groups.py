"""The groups that an annotation of a pod lists for its gang."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from policykit.manifests.path import Path


class Group(NamedTuple):
    """An item of the list, with its keys in lower case and as written."""

    position: int
    fields: Mapping[str, Any]
    written: Mapping[str, str]

    @property
    def name(self) -> str:
        name = self.fields.get("name")
        return name if isinstance(name, str) else ""

    def inside(self, field: str) -> Path:
        """Where a field stands, or the item."""
        return (self.position, self.written[field]) if field in self.written else (self.position,)


def groups(written: str) -> tuple[Group, ...]:
    """The groups of an annotation; empty for what is no JSON list of maps."""
    try:
        listed = json.loads(written)
    except (ValueError, RecursionError):
        return ()
    return tuple(
        Group(position, {key.lower(): value for key, value in item.items()}, {k.lower(): k for k in item})
        for position, item in enumerate(listed if isinstance(listed, list) else ())
        if isinstance(item, dict)
    )
