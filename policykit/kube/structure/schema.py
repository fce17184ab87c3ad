"""The schema of an API kind, with its references resolved."""

from __future__ import annotations

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
                    "annotations": {"type": "object", "additionalProperties": {"type": "string"}},
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
