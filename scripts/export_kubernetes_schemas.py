"""Built-in shapes for schemas/kubernetes/, from the models of the `kubernetes` package.

Structure only: fields, types, what is required; kubernetes_overlay.yaml adds what the API
server checks beyond types. Run it with the package's version 37 installed:

    python -m scripts.export_kubernetes_schemas
"""

import re
from pathlib import Path
from typing import Any

import yaml
from kubernetes import client

from scripts.schema_files import Schema, write

OVERLAY: dict[str, Any] = yaml.safe_load(
    (Path(__file__).parent / "kubernetes_overlay.yaml").read_text(encoding="utf-8")
)
_SHARED = "kubernetes/pod.json"
FILES: dict[str, tuple[str, ...]] = {
    _SHARED: ("V1PodTemplateSpec", "V1PersistentVolumeClaim"),
    "kubernetes/core.json": (
        "V1Pod",
        "V1PodTemplate",
        "V1ReplicationController",
        "V1ResourceQuota",
        "V1LimitRange",
        "V1Node",
    ),
    "kubernetes/apps.json": ("V1Deployment", "V1ReplicaSet", "V1StatefulSet", "V1DaemonSet"),
    "kubernetes/batch.json": ("V1Job", "V1CronJob"),
    "kubernetes/autoscaling.json": ("V2HorizontalPodAutoscaler",),
    "kubernetes/scheduling.json": ("V1PriorityClass",),
}
"""File to the models it starts from. What the shared file has, the others refer to."""

_KINDS = frozenset(model for models in FILES.values() for model in models if not model.endswith("Spec"))
_SCALARS = {"str": "string", "datetime": "string", "int": "integer", "bool": "boolean", "float": "number"}
_PREFIX = re.compile(r"(Core)?V\d+(alpha\d+|beta\d+)?")


def definition_name(model: str) -> str:
    """PodSpec of V1PodSpec."""
    return _PREFIX.sub("", model, count=1)


def files() -> dict[str, dict[str, Schema]]:
    """File below schemas/ to its definitions."""
    shared: dict[str, Schema] = {}
    _collect(FILES[_SHARED], shared, frozenset())
    result = {_SHARED: shared}
    for name, models in FILES.items():
        if name != _SHARED:
            result[name] = {}
            _collect(models, result[name], frozenset(shared))
    return result


def _collect(models: tuple[str, ...], found: dict[str, Schema], shared: frozenset[str]) -> None:
    for model in models:
        name = definition_name(model)
        if name not in found and name not in shared:
            found[name] = {}  # placed before its fields, for models that contain themselves
            found[name].update(_struct(model, found, shared))


def _struct(model: str, found: dict[str, Schema], shared: frozenset[str]) -> Schema:
    name = definition_name(model)
    cls = getattr(client, model)
    required = {cls.attribute_map[key] for key, field in cls.model_fields.items() if field.is_required()}
    required |= set(OVERLAY["required"].get(name, ()))
    required -= set(OVERLAY["not_required"].get(name, ()))
    properties: dict[str, Schema] = {}
    for attribute, kind in cls.openapi_types.items():
        field = cls.attribute_map[attribute]
        place = f"{name}.{field}"
        if place in OVERLAY["free"] or (field == "status" and model in _KINDS):
            properties[field] = {}
        else:
            properties[field] = _overlaid(place, field in required, _type(kind, found, shared))
    for place, schema in OVERLAY["extra"].items():
        owner, field = place.split(".")
        if owner == name:
            properties[field] = schema
    schema = {"type": "object", "additionalProperties": False, "properties": properties}
    return schema | ({"required": sorted(required)} if required else {})


def _type(kind: str, found: dict[str, Schema], shared: frozenset[str]) -> Schema:
    if match := re.fullmatch(r"List\[(.+)\]", kind):
        return {"type": "array", "items": _type(match[1], found, shared)}
    if match := re.fullmatch(r"Dict\[str, (.+)\]", kind):
        return {"type": "object", "additionalProperties": _type(match[1], found, shared)}
    if kind in _SCALARS:
        return {"type": _SCALARS[kind]}
    if kind == "object":
        return {"type": "object"}
    _collect((kind,), found, shared)
    name = definition_name(kind)
    return {"$ref": f"{'pod.json' if name in shared else ''}#/$defs/{name}"}


def _overlaid(place: str, required: bool, schema: Schema) -> Schema:
    """The generated type with what the overlay says about this field."""
    if place in OVERLAY["int_or_string"]:
        return {"type": ["integer", "string"], "x-kubernetes-int-or-string": True}
    if place in OVERLAY["quantities"] or place in OVERLAY["amounts"]:
        quantity: Schema = {"type": ["number", "string"], "x-kubernetes-quantity": True}
        if place in OVERLAY["amounts"]:
            quantity["minimum"] = 0
        return schema | {"additionalProperties": quantity} if schema["type"] == "object" else quantity
    if place in OVERLAY["label_pairs"]:
        return schema | {"x-kubernetes-label": "pairs"}
    innermost: Schema = {}
    if place in OVERLAY["label_keys"]:
        innermost["x-kubernetes-label"] = "key"
    if place in OVERLAY["label_values"]:
        innermost["x-kubernetes-label"] = "value"
    if values := OVERLAY["enums"].get(place):
        # An optional text that is empty is as good as absent: the API server defaults it.
        innermost["enum"] = [*values] if required or schema["type"] == "array" else ["", *values]
    if pattern := OVERLAY["patterns"].get(place):
        innermost["pattern"] = pattern
    if bounds := OVERLAY["ranges"].get(place):
        innermost |= dict(zip(("minimum", "maximum"), bounds, strict=False))
    outer: Schema = {}
    if place in OVERLAY["not_empty"]:
        outer = {"minItems": 1} if schema.get("type") == "array" else {"minLength": 1}
    if schema.get("type") == "array" and innermost:
        return schema | outer | {"items": schema["items"] | innermost}
    return schema | innermost | outer


def node_fields(definitions: dict[str, Schema]) -> None:
    """matchFields names nodes, whose names are no label values."""
    requirement = definitions["NodeSelectorRequirement"]
    plain = {
        key: {k: v for k, v in schema.items() if k != "x-kubernetes-label"}
        for key, schema in requirement["properties"].items()
    }
    plain["values"] = {"type": "array", "items": {"type": "string"}}
    definitions["NodeFieldRequirement"] = requirement | {"properties": plain}
    term = definitions["NodeSelectorTerm"]["properties"]
    term["matchFields"] = {"type": "array", "items": {"$ref": "#/$defs/NodeFieldRequirement"}}


def exported() -> dict[str, dict[str, Schema]]:
    """Every file as it is written."""
    result = files()
    node_fields(result[_SHARED])
    return result


if __name__ == "__main__":
    write(exported())
