"""Which API versions and kinds exist, and which are gone."""

from __future__ import annotations

import re
from typing import NamedTuple

from policykit import bundled

_NUMBER = re.compile(r"[0-9]{1,9}(?=[-+]|\Z)")

OLDEST_SUPPORTED = "1.34"
"""The oldest Kubernetes release supported upstream when this table was written."""


class Removal(NamedTuple):
    """A version of a kind that newer releases do not serve."""

    system: str
    """Kubernetes, Volcano, ..."""
    release: str
    """First release without it; empty if unknown."""
    successor: str
    """apiVersion to use instead; empty: there is none."""


def removal(api_version: str, kind: str) -> Removal | None:
    """Data on a version that is no longer served; None for all others."""
    entry = bundled.table("schemas", "kinds.json")["removed"].get(api_version, {}).get(kind)
    return Removal(*entry) if entry else None


def added(api_version: str, kind: str) -> str:
    """First Kubernetes release that serves this version of a kind; empty: 1.29 or unknown."""
    release: str = bundled.table("schemas", "kinds.json")["added"].get(api_version, {}).get(kind, "")
    return release


def served_until(release: str, version: str) -> bool:
    """Whether Kubernetes `version` still serves what `release` removed; both like `1.36` or `v1.36.2`."""
    return _number(version) < _number(release)


def _number(version: str) -> tuple[int, int]:
    parts = version.lstrip("v").split(".")
    numbers = [int(match[0]) if (match := _NUMBER.match(part)) else 0 for part in parts]
    return (numbers[0], numbers[1] if len(numbers) > 1 else 0)


def kinds_of(group: str) -> dict[str, list[str]] | None:
    """Kinds of a group policykit knows to their versions, newest first; None: a foreign group."""
    found: dict[str, list[str]] | None = bundled.table("schemas", "kinds.json")["known"].get(group)
    return found


def homes_of(kind: str) -> list[str]:
    """apiVersions with a kind of this name, the newest of each group."""
    groups: dict[str, dict[str, list[str]]] = bundled.table("schemas", "kinds.json")["known"]
    return [
        f"{group}/{kinds[kind][0]}" if group else kinds[kind][0]
        for group, kinds in sorted(groups.items())
        if kind in kinds
    ]
