"""API versions and kinds: which exist, which are gone, and what the API server serves."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from policykit import bundled
from policykit.kube.structure.schema import Schema
from policykit.namedtuple import NamedTuple

_NUMBER = re.compile(r"[0-9]{1,9}(?=[-+]|\Z)")

OLDEST_SUPPORTED = "1.28"
"""The oldest Kubernetes release that policykit supports: what it does not serve, none serves."""


class Removal(NamedTuple):
    """A version of a kind that newer releases do not serve."""

    target_name: str
    """Kubernetes, Volcano, ..."""
    release: str
    """First release without it; empty if unknown."""
    successor: str
    """apiVersion to use instead; empty: there is none."""


@lru_cache(maxsize=1024)
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


class ServedApis(NamedTuple):
    """Stated releases and the user's own kinds."""

    releases: Mapping[str, str] = {}
    """Folder below schemas/ (kubernetes, volcano, koordinator) to the stated release of that system."""
    custom: Mapping[tuple[str, str], Schema] = {}
    """apiVersion and kind to the schema of a CustomResourceDefinition."""


NOTHING = ServedApis()


def release_problem(
    name: str, target_name: str, stated: str, since: str, gone: str
) -> tuple[str, str] | None:
    """Message and hint for a field that the stated release does not have; None if it has it.

    `since` is the first release with the field, `gone` the first one without it; empty: always.
    """
    if not stated:
        return None
    who = target_name.capitalize()
    if since and served_until(since, stated):
        said = f"unknown field {name}: {who} has it since {since}, the policy states {stated}"
        return said, f"remove it, or state a release from {since} on"
    if gone and not served_until(gone, stated):
        return f"unknown field {name}: {who} {gone} removed it, the policy states {stated}", "remove it"
    return None
