"""What the API server serves: stated releases and custom kinds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from policykit.kube.structure.shapes import Schema
from policykit.kube.structure.versions import served_until


class Served(NamedTuple):
    """Stated releases and the user's own kinds."""

    releases: Mapping[str, str] = {}
    """Folder below schemas/ (kubernetes, volcano, koordinator) to the stated release of that system."""
    custom: Mapping[tuple[str, str], Schema] = {}
    """apiVersion and kind to the schema of a CustomResourceDefinition."""


NOTHING = Served()

_SYSTEMS = {"kubernetes": "Kubernetes", "volcano": "Volcano", "koordinator": "Koordinator"}


def untimely(name: str, system: str, stated: str, since: str, gone: str) -> tuple[str, str] | None:
    """Message and hint for a field that the stated release does not have; None if it has it.

    `since` is the first release with the field, `gone` the first one without it; empty: always.
    """
    if not stated:
        return None
    who = _SYSTEMS.get(system, system)
    if since and served_until(since, stated):
        said = f"unknown field {name}: {who} has it since {since}, the policy states {stated}"
        return said, f"remove it, or state a release from {since} on"
    if gone and not served_until(gone, stated):
        return f"unknown field {name}: {who} {gone} removed it, the policy states {stated}", "remove it"
    return None
