"""Schemas of the kinds that a CustomResourceDefinition defines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from policykit.kube.structure.schema import Schema
from policykit.namedtuple import NamedTuple
from policykit.patterns import pattern

_NAMES = ("apiVersion", "kind")
_METADATA: Schema = {"$ref": "kubernetes/pod.json#/$defs/ObjectMeta"}
_TYPES = frozenset({"string", "integer", "number", "boolean", "array", "object"})
_BOUNDS = ("minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems")
_QUANTITY = "([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+)"
"""Part of the pattern of every quantity."""


class CustomKind(NamedTuple):
    """A kind in one version. References in the schema start from schemas/."""

    api_version: str
    kind: str
    schema: Schema


def custom_kinds(document: Any) -> Iterator[CustomKind]:
    """The kinds that a CustomResourceDefinition serves, in order; none for any other object.

    apiextensions.k8s.io v1 and v1beta1. A version without a schema accepts anything.
    """
    if not isinstance(document, dict) or document.get("kind") != "CustomResourceDefinition":
        return
    spec = _mapping(document.get("spec"))
    group, kind = spec.get("group"), _mapping(spec.get("names")).get("kind")
    if not isinstance(group, str) or not isinstance(kind, str):
        return
    common = _mapping(spec.get("validation"))
    versions = spec.get("versions")
    if not isinstance(versions, list):
        versions = [{"name": spec.get("version"), "served": True}]
    for version in versions:
        version = _mapping(version)
        if version.get("served") is True and isinstance(version.get("name"), str):
            written = _mapping(version.get("schema") or common).get("openAPIV3Schema")
            yield CustomKind(f"{group}/{version['name']}", kind, _root(_mapping(written)))


def _root(written: dict[str, Any]) -> Schema:
    """The schema of a whole object: its metadata and its status are the API server's."""
    converted = _converted(written, _DEEPEST)
    if "properties" not in converted:
        return {"type": "object", "properties": {"metadata": _METADATA}}
    names: dict[str, Schema] = {name: {"type": "string"} for name in _NAMES}
    properties = converted["properties"] | names | {"metadata": _METADATA}
    if "status" in properties:
        properties["status"] = {}
    return converted | {"type": "object", "properties": properties}


_DEEPEST = 80
"""Most levels of a schema that are checked; deeper values are accepted."""


def _converted(written: Any, depth: int) -> dict[str, Any]:
    """A structural schema in the keywords that `walk` checks; anything else is skipped."""
    if not isinstance(written, dict) or not depth:
        return {}
    if _is_int_or_string(written):
        return _int_or_string(written)
    result: dict[str, Any] = {}
    kind = written.get("type")
    if isinstance(kind, str) and kind in _TYPES:
        result["type"] = kind
    result |= {k: written[k] for k in _BOUNDS if type(written.get(k)) in (int, float)}
    enum = written.get("enum")
    if isinstance(enum, list) and enum and all(isinstance(word, str) for word in enum):
        result["enum"] = enum
    form = written.get("pattern")
    if isinstance(form, str) and pattern(form):
        result["x-linear-pattern"] = form
    if required := _required(written):
        result["required"] = required
    if "items" in written:
        result["items"] = _converted(written["items"], depth - 1)
    return result | _fields(written, depth)


def _required(written: dict[str, Any]) -> list[str]:
    """Fields with a default are filled in before anything is checked."""
    required, properties = written.get("required"), _mapping(written.get("properties"))
    names = [name for name in required if isinstance(name, str)] if isinstance(required, list) else []
    return [name for name in names if "default" not in _mapping(properties.get(name))]


def _fields(written: dict[str, Any], depth: int) -> dict[str, Any]:
    result: dict[str, Any] = {}
    properties, others = written.get("properties"), written.get("additionalProperties")
    keeps = written.get("x-kubernetes-preserve-unknown-fields") or written.get(
        "x-kubernetes-embedded-resource"
    )
    if isinstance(properties, dict) and properties:
        result["properties"] = {str(k): _converted(v, depth - 1) for k, v in properties.items()}
        if not keeps and not others:
            result["additionalProperties"] = False
    if isinstance(others, dict) and others:
        result["additionalProperties"] = _converted(others, depth - 1)
    return result


def _is_int_or_string(written: dict[str, Any]) -> bool:
    if written.get("x-kubernetes-int-or-string") or written.get("format") == "int-or-string":
        return True
    choices = written.get("anyOf")
    return choices == [{"type": "integer"}, {"type": "string"}]


def _int_or_string(written: dict[str, Any]) -> dict[str, Any]:
    types = {"type": ["integer", "string"]}
    pattern = written.get("pattern")
    if isinstance(pattern, str) and _QUANTITY in pattern:
        return types | {"x-kubernetes-quantity": True}
    return types | {"x-kubernetes-int-or-string": True}


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
