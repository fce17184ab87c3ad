"""Schemas of built-in kinds for schemas/kubernetes/, from the models of the `kubernetes` package.

Structure only: fields, types, what is required; kubernetes_overlay.yaml adds what the API
server checks beyond types, kubernetes_releases.yaml which release has which field. Run it
with the package's version 37 installed:

    python -m scripts.export_kubernetes_schemas
"""

import re
from pathlib import Path
from typing import Any

import yaml
from kubernetes import client

from scripts.schema_files import Schema, write
from scripts.schema_kinds import list_shapes

_HERE = Path(__file__).parent
OVERLAY: dict[str, Any] = yaml.safe_load((_HERE / "kubernetes_overlay.yaml").read_text(encoding="utf-8"))
RELEASES: dict[str, Any] = yaml.safe_load((_HERE / "kubernetes_releases.yaml").read_text(encoding="utf-8"))
KINDS: dict[str, dict[str, list[str]]] = OVERLAY["kinds"]
"""File to apiVersion and the models of its kinds. The other files refer to the shared file."""

_SHARED = "kubernetes/pod.json"
_BEGINNINGS = ("V1PodTemplateSpec", "V1PersistentVolumeClaim")
"""Models at the root of the shared file."""

_ROOTS = frozenset(m for kinds in KINDS.values() for models in kinds.values() for m in models)
_SCALARS = {
    "str": "string",
    "datetime": "string",
    "bytes": "string",
    "int": "integer",
    "bool": "boolean",
    "float": "number",
}
_PREFIX = re.compile(r"(?:[A-Z][a-z]+)?V\d+(?:alpha\d+|beta\d+)?(?=[A-Z])")


def definition_name(model: str) -> str:
    """PodSpec of V1PodSpec, ResourceClaim of CoreV1ResourceClaim."""
    return _PREFIX.sub("", model, count=1)


def files() -> dict[str, dict[str, Schema]]:
    """File below schemas/ to its definitions."""
    shared: dict[str, Schema] = {}
    known: dict[str, str] = {}
    for model in _BEGINNINGS:
        _collect(model, shared, known)
    known = {model: f"pod.json{reference}" for model, reference in known.items()}
    result = {_SHARED: shared}
    for name, kinds in KINDS.items():
        found = result.setdefault(name, {})
        mine = dict(known)
        for model in (model for models in kinds.values() for model in models):
            _collect(model, found, mine)
    return result


def shapes() -> dict[str, dict[str, str]]:
    """apiVersion to its kinds and the file of each."""
    found: dict[str, dict[str, str]] = {}
    for name, kinds in KINDS.items():
        for api_version, models in kinds.items():
            found.setdefault(api_version, {}).update((definition_name(model), name) for model in models)
    return found


def _collect(model: str, found: dict[str, Schema], known: dict[str, str]) -> str:
    """Defines a model if it is not defined yet, and returns the reference to it."""
    if model not in known:
        name = definition_name(model)
        if name in found:
            raise SystemExit(f"two models would be called {name}, one of them {model}")
        known[model] = f"#/$defs/{name}"
        found[name] = {}  # placed before its fields, for models that contain themselves
        found[name].update(_struct(model, found, known))
    return known[model]


def _struct(model: str, found: dict[str, Schema], known: dict[str, str]) -> Schema:
    name = definition_name(model)
    cls = getattr(client, model)
    required = {cls.attribute_map[key] for key, field in cls.model_fields.items() if field.is_required()}
    required |= set(OVERLAY["required"].get(name, ()))
    required -= set(OVERLAY["not_required"].get(name, ()))
    properties: dict[str, Schema] = {}
    for attribute, kind in cls.openapi_types.items():
        field = cls.attribute_map[attribute]
        place = f"{name}.{field}"
        if place in OVERLAY["free"] or (field == "status" and model in _ROOTS):
            properties[field] = {}
        else:
            properties[field] = _overlaid(place, field in required, _type(kind, found, known))
        if since := RELEASES["since"].get(f"{model}.{field}"):
            properties[field] = properties[field] | {"x-served": [since, ""]}
    for place, (since, gone, shape) in RELEASES["gone"].items():
        owner, field = place.split(".")
        if owner == model:
            properties[field] = shape | {"x-served": [since, gone]}
    schema = {"type": "object", "additionalProperties": False, "properties": properties}
    return schema | ({"required": sorted(required)} if required else {})


def _type(kind: str, found: dict[str, Schema], known: dict[str, str]) -> Schema:
    if match := re.fullmatch(r"List\[(.+)\]", kind):
        return {"type": "array", "items": _type(match[1], found, known)}
    if match := re.fullmatch(r"Dict\[str, (.+)\]", kind):
        return {"type": "object", "additionalProperties": _type(match[1], found, known)}
    if kind in _SCALARS:
        return {"type": _SCALARS[kind]}
    if kind == "object":
        return {"type": "object"}
    return {"$ref": _collect(kind, found, known)}


def _overlaid(place: str, required: bool, schema: Schema) -> Schema:
    """The generated type with the overlay of this field."""
    if place in OVERLAY["int_or_string"]:
        text = {"pattern": OVERLAY["patterns"][place]} if place in OVERLAY["patterns"] else {}
        bounds = zip(("minimum", "maximum"), OVERLAY["ranges"].get(place, ()), strict=False)
        return {"type": ["integer", "string"], "x-kubernetes-int-or-string": True, **text, **dict(bounds)}
    if place in OVERLAY["quantities"] or place in OVERLAY["amounts"]:
        quantity: Schema = {"type": ["number", "string"], "x-kubernetes-quantity": True}
        if place in OVERLAY["amounts"]:
            quantity["minimum"] = 0
        return schema | {"additionalProperties": quantity} if schema["type"] == "object" else quantity
    if place in OVERLAY["label_pairs"]:
        return schema | {"x-kubernetes-label": "pairs"}
    if place in OVERLAY["property_names"]:
        return schema | {"propertyNames": OVERLAY["property_names"][place]}
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
    """matchFields has node names, which are not label values."""
    requirement = definitions["NodeSelectorRequirement"]
    plain = {
        key: {k: v for k, v in schema.items() if k != "x-kubernetes-label"}
        for key, schema in requirement["properties"].items()
    }
    plain["values"] = {"type": "array", "items": {"type": "string"}}
    definitions["NodeFieldRequirement"] = requirement | {"properties": plain}
    term = definitions["NodeSelectorTerm"]["properties"]
    term["matchFields"] = {"type": "array", "items": {"$ref": "#/$defs/NodeFieldRequirement"}}


def data_sources(definitions: dict[str, Schema]) -> None:
    """The API server drops a dataSource of no kind."""
    source = definitions["TypedLocalObjectReference"]
    definitions["DataSource"] = source | {"required": ["name"]}
    claim = definitions["PersistentVolumeClaimSpec"]["properties"]
    claim["dataSource"] = {"$ref": "#/$defs/DataSource"}


def exported() -> dict[str, dict[str, Schema]]:
    """Every file as it is written."""
    result = files()
    node_fields(result[_SHARED])
    data_sources(result[_SHARED])
    return result


if __name__ == "__main__":
    write(exported())
    list_shapes(shapes())
