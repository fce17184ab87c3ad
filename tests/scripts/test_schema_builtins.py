"""Built-in types are recognised in custom resources, whatever release of them is embedded."""

from typing import Any

import pytest

from scripts.schema_builtins import with_references
from scripts.schema_files import load

POD = "../kubernetes/pod.json#/$defs/"


def builtin(name: str, *without: str) -> dict[str, Any]:
    """The type written out one level deep, as a CRD has it."""
    schema = load("kubernetes/pod.json")[name]
    properties = {key: spelt(value) for key, value in schema["properties"].items() if key not in without}
    return schema | {"properties": properties}


def spelt(schema: dict[str, Any]) -> dict[str, Any]:
    if "$ref" in schema:
        return {"type": "object"}
    if "$ref" in schema.get("items", {}):
        return {"type": "array", "items": {"type": "object"}}
    return schema


TEMPLATE = {
    "type": "object",
    "additionalProperties": False,
    "properties": {"metadata": {"type": "object"}, "spec": builtin("PodSpec")},
}


@pytest.mark.parametrize(
    ("field", "schema", "expected"),
    [
        ("template", TEMPLATE, {"$ref": POD + "PodTemplateSpec"}),
        ("spec", builtin("PodSpec"), {"$ref": POD + "PodSpec"}),
        ("spec", builtin("PodSpec", "resources", "schedulingGroup", "os"), {"$ref": POD + "PodSpec"}),
        ("x", builtin("Toleration"), {"$ref": POD + "Toleration"}),
        ("selector", builtin("LabelSelector"), {"$ref": POD + "LabelSelector"}),
        ("metadata", {"type": "object"}, {"$ref": POD + "ObjectMeta"}),
        (
            "nodeLabels",
            {"type": "object", "additionalProperties": {"type": "string"}},
            {"type": "object", "additionalProperties": {"type": "string"}, "x-kubernetes-label": "pairs"},
        ),
    ],
    ids=["template", "pod", "pod of an older release", "toleration", "selector", "metadata", "labels"],
)
def test_recognised(field: str, schema: dict[str, Any], expected: dict[str, Any]) -> None:
    assert with_references(field, schema, partial=False) == expected


def test_a_type_with_a_field_of_its_own_is_another() -> None:
    schema = builtin("Toleration")
    schema["properties"]["own"] = {"type": "string"}
    assert "$ref" not in with_references("x", schema, partial=False)


def test_a_type_with_another_kind_of_value_is_another() -> None:
    schema = builtin("Toleration")
    schema["properties"]["key"] = {"type": "integer"}
    assert "$ref" not in with_references("x", schema, partial=False)


def test_what_need_not_be_there_is_not_asked_for() -> None:
    container = builtin("Container") | {"required": []}
    assert "$ref" not in with_references("x", container, partial=False)
    assert with_references("x", container, partial=True) == {"$ref": POD + "Container", "x-partial": True}
