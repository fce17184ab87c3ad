"""The JSON Schema (draft 7) of the policy file, exported from the models, for editors."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from policykit.policy.files import API_VERSION, KIND
from policykit.policy.models.policy import Policy

_NULL = {"type": "null"}

SCHEMA_ID = "https://policykit.io/schemas/policy.json"


@cache
def model_schema() -> Mapping[str, Any]:
    """The schema of a merged policy: every key optional, no nulls. Cached, because building it is slow."""
    return Policy.model_json_schema(ref_template="#/definitions/{model}")


def file_schema() -> dict[str, Any]:
    """The schema of one policy file, base or overlay: any map value may be null, which deletes it."""
    schema = model_schema()
    definitions = schema["$defs"]
    properties = dict(schema["properties"])
    properties["apiVersion"] = {"const": API_VERSION, "description": properties["apiVersion"]["description"]}
    properties["kind"] = {"const": KIND, "description": properties["kind"]["description"]}
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "$id": SCHEMA_ID,
        "title": "policykit policy",
        "description": "Desired state of an AI cluster: cards, pools, workload kinds, queues, schedulers.",
        "type": "object",
        "required": ["apiVersion", "kind"],
        "additionalProperties": False,
        "properties": {
            key: value if "const" in value else _nullable(_draft7(value)) for key, value in properties.items()
        },
        "definitions": {name: _definition(each) for name, each in sorted(definitions.items())},
    }


def _draft7(schema: Any) -> Any:
    """Removes titles, makes map values nullable, isolates each `$ref`: draft 7 ignores its siblings."""
    if isinstance(schema, list):
        return [_draft7(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    result: dict[str, Any] = {}
    for key, value in schema.items():
        if key == "title" and isinstance(value, str):
            continue
        if key == "properties":
            result[key] = {name: _nullable(_draft7(prop)) for name, prop in value.items()}
        elif key == "additionalProperties" and isinstance(value, dict):
            result[key] = _nullable(_draft7(value))
        elif key == "default" and (not value or isinstance(value, dict)) and value is not False:
            continue
        else:
            result[key] = _draft7(value)
    if "$ref" in result and len(result) > 1:
        result["allOf"] = [{"$ref": result.pop("$ref")}]
    return result


def _definition(schema: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = _draft7(schema)
    return {**found, "type": _or_null(found["type"])}


def _nullable(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema or null. Definitions accept null themselves, so that errors name the key below."""
    notes = {k: v for k, v in schema.items() if k in ("description", "default")}
    options = _options({k: v for k, v in schema.items() if k not in notes})
    refers = any("$ref" in option for option in options)
    if len(options) > 1:
        return {**notes, "anyOf": options if refers else [*options, _NULL]}
    if refers:
        return {**notes, "allOf": options} if notes else options[0]
    only = {**options[0], **notes}
    if "enum" in only:
        only["enum"] = [*only["enum"], None]
    return {**only, "type": _or_null(only["type"])}


def _or_null(kind: str | list[str]) -> list[str]:
    return [*kind, "null"] if isinstance(kind, list) else [kind, "null"]


def _options(schema: dict[str, Any]) -> list[dict[str, Any]]:
    """The alternatives of a schema, flattened, without null."""
    for group in ("anyOf", "oneOf", "allOf"):
        if list(schema) == [group] and (group != "allOf" or len(schema[group]) == 1):
            return [option for nested in schema[group] for option in _options(nested)]
    return [] if schema == _NULL else [schema]
