"""Merges the schemas of several releases; the result accepts what any of them does."""

from collections.abc import Sequence
from typing import Any

from scripts.schema_files import Schema

Dated = Sequence[tuple[str, Schema]]
"""(release, schema), oldest first."""

_LEAST, _MOST = ("minimum", "minLength", "minItems"), ("maximum", "maxLength", "maxItems")


def merged(dated: Dated) -> Schema:
    """The union: a requirement is kept only if every release has it.

    `x-served` on a field is [first release with it, first one without it], empty for always.
    """
    schemas = [schema for _, schema in dated]
    if len(schemas) == 1 or all(schema == schemas[0] for schema in schemas):
        return schemas[0]
    result = _type(schemas)
    if result is None:
        return {}
    for key in ("pattern", "x-kubernetes-quantity", "x-kubernetes-int-or-string", "$ref"):
        if all(schema.get(key) == schemas[0].get(key) for schema in schemas) and key in schemas[0]:
            result[key] = schemas[0][key]
    if all("enum" in schema for schema in schemas):
        result["enum"] = list(dict.fromkeys(word for schema in reversed(schemas) for word in schema["enum"]))
    for keys, loosest in ((_LEAST, min), (_MOST, max)):
        for key in keys:
            if all(key in schema for schema in schemas):
                result[key] = loosest(schema[key] for schema in schemas)
    if required := set.intersection(*(set(schema.get("required", ())) for schema in schemas)):
        result["required"] = sorted(required)
    if all("items" in schema for schema in schemas):
        result["items"] = merged([(release, schema["items"]) for release, schema in dated])
    return result | _fields(dated)


def _type(schemas: Sequence[Schema]) -> Schema | None:
    """None if the releases have nothing in common."""
    types = [schema.get("type") for schema in schemas]
    if all(kind == types[0] for kind in types):
        return {} if types[0] is None else {"type": types[0]}
    known: list[str] = []
    for kind in types:
        known += [kind] if isinstance(kind, str) else kind or ["object"]
    if {"object", "array"} & set(known):
        return None
    return {"type": list(dict.fromkeys(known))}


def _fields(dated: Dated) -> Schema:
    others = [schema.get("additionalProperties", True) for _, schema in dated]
    result: Schema = {}
    if all(other is False for other in others):
        result["additionalProperties"] = False
    elif all(isinstance(other, dict) for other in others):
        result["additionalProperties"] = merged([(r, s["additionalProperties"]) for r, s in dated])
    elif not all(other is True for other in others):
        return {}
    names = dict.fromkeys(name for _, schema in dated for name in schema.get("properties", ()))
    properties = {name: _field(name, dated) for name in names}
    return result | ({"properties": properties} if properties else {})


def _field(name: str, dated: Dated) -> Schema:
    having = [position for position, (_, s) in enumerate(dated) if name in s.get("properties", ())]
    first, last = having[0], having[-1]
    field = merged([(dated[position][0], dated[position][1]["properties"][name]) for position in having])
    since = dated[first][0] if first else ""
    gone = dated[last + 1][0] if last + 1 < len(dated) else ""
    return field | {"x-served": [since, gone]} if since or gone else field


def undated(schema: Any) -> Any:
    """Without the releases, for systems whose release a policy cannot set."""
    if isinstance(schema, dict):
        return {key: undated(value) for key, value in schema.items() if key != "x-served"}
    return [undated(value) for value in schema] if isinstance(schema, list) else schema
