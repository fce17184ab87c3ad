"""API kinds: their schemas, and the versions in which they exist, are gone or are served."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache, lru_cache
from typing import Any

from policykit import bundled
from policykit.namedtuple import NamedTuple

Schema = Mapping[str, Any]
_NOTHING: Mapping[tuple[str, str], Schema] = {}


class Shape(NamedTuple):
    """A schema and the file below schemas/ that its references are relative to."""

    schema: Schema
    file: str

    def resolved(self) -> Shape:
        """The schema itself, or the target of its `$ref`."""
        shape = self
        while "$ref" in shape.schema:
            shape = target(shape.file, shape.schema["$ref"])
        return shape

    def field(self, key: str) -> Shape | None:
        """Shape of a property; None if there is none. A map accepts any key."""
        schema = self.schema
        properties = schema.get("properties")
        if properties is not None and key in properties:
            return Shape(properties[key], self.file).resolved()
        additional = schema.get("additionalProperties")
        return Shape(additional, self.file).resolved() if isinstance(additional, dict) else None

    def item(self) -> Shape | None:
        """Shape of a list's items."""
        items = self.schema.get("items")
        return Shape(items, self.file).resolved() if items is not None else None


FOREIGN = Shape(
    {
        "properties": {
            "metadata": {
                "properties": {
                    "labels": {"type": "object", "x-kubernetes-label": "pairs"},
                    "annotations": {
                        "type": "object",
                        "additionalProperties": {"type": "string"},
                        "propertyNames": {"x-kubernetes-label": "annotation"},
                    },
                }
            }
        }
    },
    "",
)
"""What every Kubernetes object has in common, for kinds without a bundled schema."""


def shape_of(
    api_version: str, kind: str, custom: Mapping[tuple[str, str], Schema] = _NOTHING
) -> Shape | None:
    """The shape of a kind in exactly this version; None if unknown.

    `custom` has the user's own kinds, by apiVersion and kind; they win over bundled ones.
    """
    if custom and (schema := custom.get((api_version, kind))) is not None:
        return Shape(schema, "")
    return _bundled_shape(api_version, kind)


def is_extended(data: Mapping[str, Any], kind: str) -> bool:
    """Whether a provider's own definition of the kind, which has more fields, is meant.

    Source: the FlinkDeployments of Amazon EMR on EKS, which have a release and a role.
    """
    spec = data.get("spec") if kind == "FlinkDeployment" else None
    return isinstance(spec, dict) and "emrReleaseLabel" in spec


@lru_cache(maxsize=1024)
def _bundled_shape(api_version: str, kind: str) -> Shape | None:
    file = bundled.table("schemas", "kinds.json")["shapes"].get(api_version, {}).get(kind)
    return Shape(_definitions(file)[kind], file) if file else None


@cache
def target(file: str, reference: str) -> Shape:
    """The target of a reference such as `pod.json#/$defs/PodSpec` in `file`."""
    other, _, pointer = reference.partition("#/$defs/")
    if other:
        folder = file.split("/")[:-1]
        for part in other.split("/"):
            folder = folder[:-1] if part == ".." else [*folder, part]
        file = "/".join(folder)
    return Shape(_definitions(file)[pointer], file)


def _definitions(file: str) -> dict[str, Schema]:
    definitions: dict[str, Schema] = bundled.table("schemas", *file.split("/"))["$defs"]
    return definitions


def fits(value: object, shape: Shape) -> bool:
    """Whether a value has the form that a shape requires: a mapping, a list, or neither."""
    wanted = shape.schema.get("type")
    if value is None or wanted is None:
        return True
    mapping, sequence = isinstance(value, dict), isinstance(value, list)
    return bool(mapping == (wanted == "object") and sequence == (wanted == "array"))


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
        message = f"unknown field {name}: {who} has it since {since}, the policy states {stated}"
        return message, f"remove it, or state a release from {since} on"
    if gone and not served_until(gone, stated):
        return f"unknown field {name}: {who} {gone} removed it, the policy states {stated}", "remove it"
    return None
