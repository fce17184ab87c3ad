"""Moves schemas that a file repeats into named definitions."""

import json
from collections.abc import Iterator
from typing import Any

from scripts.schema_files import Schema

_WORTH = 250
"""Characters from which a repeated schema becomes a definition."""
_OUTSIDE = ("x-served",)
"""Keys about the field, not its value."""


def shared(definitions: dict[str, Schema]) -> dict[str, Schema]:
    """The definitions, with repeated schemas moved into new ones; the largest first."""
    while repeated := _repeated(definitions):
        field, text = repeated
        name = _free_name(field, definitions)
        schema: Schema = json.loads(text)
        reference = {"$ref": f"#/$defs/{name}"}
        definitions = {
            key: reference if _key(value) == text else _replaced(value, text, reference)
            for key, value in definitions.items()
        }
        definitions[name] = schema
    return definitions


def _repeated(definitions: dict[str, Schema]) -> tuple[str, str] | None:
    """(field, schema as text) of the largest schema that occurs more than once."""
    seen: dict[str, tuple[str, int]] = {}
    for name, definition in definitions.items():
        for field, schema in _within(name, definition):
            if "properties" in schema and len(text := _key(schema)) >= _WORTH:
                first, times = seen.get(text, (field, 0))
                seen[text] = (first, times + 1)
    found = [(len(text), field, text) for text, (field, times) in seen.items() if times > 1]
    return max(found)[1:] if found else None


def _within(field: str, schema: Schema) -> Iterator[tuple[str, Schema]]:
    yield field, schema
    for name, inner in schema.get("properties", {}).items():
        yield from _within(name, inner)
    for key in ("items", "additionalProperties"):
        if isinstance(schema.get(key), dict):
            yield from _within(field.removesuffix("s"), schema[key])


def _replaced(value: Any, text: str, reference: Schema) -> Any:
    if isinstance(value, dict):
        result = {}
        for key, inner in value.items():
            if isinstance(inner, dict) and _key(inner) == text:
                result[key] = {**reference, **{k: inner[k] for k in _OUTSIDE if k in inner}}
            else:
                result[key] = _replaced(inner, text, reference)
        return result
    return [_replaced(inner, text, reference) for inner in value] if isinstance(value, list) else value


def _key(schema: Schema) -> str:
    inside = {key: value for key, value in schema.items() if key not in _OUTSIDE}
    return json.dumps(inside, sort_keys=True, separators=(",", ":"))


def _free_name(field: str, definitions: dict[str, Schema]) -> str:
    name = field[:1].upper() + field[1:]
    number = 2
    while name in definitions:
        name, number = f"{field[:1].upper() + field[1:]}{number}", number + 1
    return name
