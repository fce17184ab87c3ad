"""Annotation: for which resources the policy states what, as quotas cover all resources alike."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from policykit.manifests.shape import mapping, pairs, texts

KEY = "policykit.io/stated"


class Stated(NamedTuple):
    """Names of the resources of each amount of a queue."""

    guarantee: tuple[str, ...] = ()
    deserved: tuple[str, ...] = ()
    limit: tuple[str, ...] = ()


def metadata(stated: Stated | None) -> dict[str, dict[str, str]]:
    """As part of `metadata`; nothing where it is not known."""
    if stated is None:
        return {}
    written = {field: list(names) for field, names in stated._asdict().items() if names}
    return {"annotations": {KEY: json.dumps(written, separators=(",", ":"))}}


def read(data: Mapping[str, Any]) -> Stated | None:
    """Of an object; None where it has no annotation, or one of another shape."""
    written = pairs(mapping(data.get("metadata")).get("annotations")).get(KEY)
    if written is None:
        return None
    try:
        found = json.loads(written)
    except (ValueError, RecursionError):
        return None
    return Stated(*(texts(mapping(found).get(field)) for field in Stated._fields))
