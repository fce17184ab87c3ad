"""Finds the built-in types in a custom resource's schema, so that it can refer to them."""

from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

from policykit.kube.structure.schema import Shape
from scripts.export_kubernetes_schemas import OVERLAY
from scripts.schema_files import Schema, load

_FILES = ("pod", "batch", "service", "autoscaling", "networking")
_SMALL = frozenset({"JobTemplateSpec", "LabelSelector", "NodeSelectorTerm", "PodTemplateSpec"})
"""Types with fewer than three fields that are recognised by the contents of their fields."""
_SHARE = 0.6
"""Share of a type's fields that must exist, so that older releases of it are recognised."""
_PAIRS = frozenset({"labels", "matchLabels", "nodeLabels", "nodeSelector"})


class _Type(NamedTuple):
    name: str
    reference: str
    shape: Shape

    @property
    def fields(self) -> Schema:
        properties: Schema = self.shape.schema["properties"]
        return properties


def with_references(field: str, schema: Schema, partial: bool) -> Schema:
    """The schema with built-in types replaced by references to schemas/kubernetes/.

    `partial`: such a value is merged over another one, so nothing in it is required.
    """
    if field == "metadata" and _is_metadata(schema):
        return {"$ref": "../kubernetes/pod.json#/$defs/ObjectMeta"}
    dated = {key: schema[key] for key in ("x-served",) if key in schema}
    if found := _recognised(schema, partial):
        return {"$ref": found.reference, **({"x-partial": True} if partial else {}), **dated}
    result = dict(schema)
    if "properties" in schema:
        fields = schema["properties"].items()
        result["properties"] = {key: with_references(key, s, partial) for key, s in fields}
    if isinstance(schema.get("additionalProperties"), dict):
        others = schema["additionalProperties"]
        result["additionalProperties"] = with_references("", others, partial)
        if field in _PAIRS and others.get("type") == "string":
            result["x-kubernetes-label"] = "pairs"
    if "items" in schema:
        result["items"] = with_references("", schema["items"], partial)
    return result


def _is_metadata(schema: Schema) -> bool:
    if schema.get("type") != "object" or schema.get("additionalProperties"):
        return False
    known = load("kubernetes/pod.json")["ObjectMeta"]["properties"]
    return bool(schema.get("properties", {}).keys() <= known.keys())


def _recognised(schema: Schema, partial: bool) -> _Type | None:
    names = schema.get("properties", {}).keys()
    if len(names) < 2:
        return None
    found = [kind for kind in _types() if _covers(kind, names) and _is(schema, kind, partial)]
    found.sort(key=lambda kind: (len(kind.fields), kind.reference))
    # Where several types have the same form, which of them it is matters only where they differ.
    alike = [kind for kind in found if len(kind.fields) == len(found[0].fields)]
    same = all(_bare(kind.shape.schema) == _bare(found[0].shape.schema) for kind in alike)
    return found[0] if found and same else None


def _bare(schema: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in schema.items() if key != "required"}


@cache
def _types() -> tuple[_Type, ...]:
    found = []
    for name in _FILES:
        file = f"kubernetes/{name}.json"
        for definition, schema in load(file).items():
            if len(schema.get("properties", ())) > 2 or definition in _SMALL:
                shape = Shape(schema, file)
                found.append(_Type(definition, f"../{file}#/$defs/{definition}", shape))
    return tuple(found)


def _covers(kind: _Type, names: Any) -> bool:
    fields = kind.fields
    if not names <= fields.keys():
        return False
    return len(names) == len(fields) or (len(fields) > 6 and len(names) >= _SHARE * len(fields))


def _is(schema: Schema, kind: _Type, partial: bool) -> bool:
    """Whether every value of the schema is also a value of the built-in type."""
    whole = kind.name not in _SMALL or _adds_nothing(schema, kind.shape)
    return (
        whole and _same(schema, kind.shape) and (partial or _demands(kind) <= set(schema.get("required", ())))
    )


def _adds_nothing(schema: Schema, shape: Shape) -> bool:
    """Whether the fields have no fields of their own that the type lacks, as those of a Revision have."""
    for name, field in schema.get("properties", {}).items():
        known = shape.field(name)
        fields = known.resolved().schema.get("properties", {}) if known else {}
        if fields and not field.get("properties", {}).keys() <= fields.keys():
            return False
    return True


def _same(schema: Schema, shape: Shape) -> bool:
    """Whether two schemas have the same form; releases of the type differ in a few fields."""
    shape = shape.resolved()
    wanted = shape.schema
    if not wanted or not schema or (schema == {"type": "object"} and wanted.get("type") == "object"):
        return True
    if "properties" in wanted:
        fields = schema.get("properties", {})
        common = fields.keys() & wanted["properties"].keys()
        if not fields or len(common) < _SHARE * len(fields):
            return False
        inner = ((fields[name], shape.field(name)) for name in common)
        return all(known is not None and _same(field, known) for field, known in inner)
    if wanted.get("type") == "array":
        items = shape.item()
        return schema.get("type") == "array" and items is not None and _same(schema["items"], items)
    if isinstance(wanted.get("additionalProperties"), dict):
        others = schema.get("additionalProperties")
        known = Shape(wanted["additionalProperties"], shape.file)
        return isinstance(others, dict) and _same(others, known)
    return _types_of(schema) <= _types_of(wanted)


def _demands(kind: _Type) -> set[str]:
    """What the type itself requires; the rest is required by the API server."""
    added = set(OVERLAY["required"].get(kind.name, ()))
    return set(kind.shape.schema.get("required", ())) - added


def _types_of(schema: Mapping[str, Any]) -> set[str]:
    written = schema.get("type", "object")
    types = {written} if isinstance(written, str) else set(written)
    return types | ({"integer"} if "number" in types else set())
