"""One schema of several releases takes what any of them takes."""

from typing import Any

import pytest

from scripts.schema_releases import merged, undated


def fields(required: tuple[str, ...] = (), **properties: Any) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "object", "additionalProperties": False, "properties": properties}
    return schema | ({"required": list(required)} if required else {})


A: dict[str, Any] = {"type": "string"}
ROWS: list[tuple[str, list[dict[str, Any]], dict[str, Any]]] = [
    ("the same", [A, A], A),
    ("words of both", [A | {"enum": ["x"]}, A | {"enum": ["x", "y"]}], A | {"enum": ["x", "y"]}),
    ("words of one only", [A, A | {"enum": ["x"]}], A),
    ("the looser bounds", [A | {"maxLength": 3}, A | {"maxLength": 5}], A | {"maxLength": 5}),
    ("another pattern", [A | {"pattern": "a"}, A | {"pattern": "b"}], A),
    ("a number, then text", [{"type": "integer"}, A], {"type": ["integer", "string"]}),
    ("text, then a mapping", [A, fields(a=A)], {}),
    ("demanded by all", [fields(("a", "b"), a=A, b=A), fields(("a",), a=A, b=A)], fields(("a",), a=A, b=A)),
    (
        "a field from the second on",
        [fields(a=A), fields(a=A, b=A)],
        fields(a=A, b=A | {"x-served": ["2", ""]}),
    ),
    (
        "a field of the first alone",
        [fields(a=A, b=A), fields(a=A)],
        fields(a=A, b=A | {"x-served": ["", "2"]}),
    ),
    (
        "a field of the second alone",
        [fields(a=A), fields(a=A, b=A), fields(a=A)],
        fields(a=A, b=A | {"x-served": ["2", "3"]}),
    ),
    (
        "what is new below a new field is no news",
        [fields(a=A), fields(a=A, b=fields(c=A))],
        fields(a=A, b=fields(c=A) | {"x-served": ["2", ""]}),
    ),
    ("any field in one release", [fields(a=A), {"type": "object"}], {"type": "object"}),
    (
        "lists",
        [{"type": "array", "items": fields(a=A)}, {"type": "array", "items": fields(a=A, b=A)}],
        {"type": "array", "items": fields(a=A, b=A | {"x-served": ["2", ""]})},
    ),
]


@pytest.mark.parametrize(("schemas", "expected"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS])
def test_merged(schemas: list[dict[str, Any]], expected: dict[str, Any]) -> None:
    assert merged([(str(number), schema) for number, schema in enumerate(schemas, 1)]) == expected


def test_undated() -> None:
    assert undated(fields(a=A | {"x-served": ["2", ""]})) == fields(a=A)
