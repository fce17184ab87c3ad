"""What stands several times in a schema file gets a name."""

from typing import Any

from scripts.schema_sharing import shared

LONG: dict[str, Any] = {
    "type": "object",
    "properties": {f"field{number}": {"type": "string", "maxLength": 253} for number in range(10)},
}


def test_a_repeated_schema_becomes_a_definition() -> None:
    dated = LONG | {"x-served": ["1.12", ""]}
    definitions = {"A": {"properties": {"size": LONG}}, "B": {"properties": {"sizes": dated, "small": {}}}}
    assert shared(definitions) == {
        "A": {"properties": {"size": {"$ref": "#/$defs/Size"}}},
        "B": {"properties": {"sizes": {"$ref": "#/$defs/Size", "x-served": ["1.12", ""]}, "small": {}}},
        "Size": LONG,
    }


def test_a_short_one_stays() -> None:
    definitions: dict[str, Any] = {
        "A": {"properties": {"a": {"properties": {"b": {}}}, "c": {"properties": {"b": {}}}}}
    }
    assert shared(definitions) == definitions
