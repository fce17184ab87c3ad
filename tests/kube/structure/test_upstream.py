"""The bundled shapes beside the CRDs as their projects publish them: every field, type and demand."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from policykit.kube.structure.crd import CustomKind, custom_kinds
from policykit.kube.structure.schema import Shape, shape_of
from scripts.schema_values import VALUES
from tests.shared import SHARED

CRDS = SHARED / "corpus/crds" if SHARED else Path("none")
UNSHAPED = {"NodeResourceTopology"}
"""Written by the node's own agent, never by people."""


def published() -> list[CustomKind]:
    texts = (path.read_text(encoding="utf-8") for path in sorted(CRDS.rglob("*.yaml")))
    return [
        kind for text in texts for document in yaml.safe_load_all(text) for kind in custom_kinds(document)
    ]


def differences(theirs: Any, ours: Shape, path: str) -> Iterator[str]:
    """Values the CRD takes and our shape does not."""
    ours = ours.resolved()
    wanted = ours.schema
    if not wanted or "$ref" in theirs:
        return
    if not types(theirs) <= types(wanted) | ({"integer"} if "number" in types(wanted) else set()):
        yield f"{path}: {theirs.get('type')} is {wanted.get('type')} here"
    if "enum" in wanted and "enum" in theirs and not set(theirs["enum"]) <= set(wanted["enum"]):
        yield f"{path}: misses words of {theirs['enum']}"
    for name, field in theirs.get("properties", {}).items():
        if (inner := ours.field(name)) is not None:
            yield from differences(field, inner, f"{path}.{name}")
        elif wanted.get("additionalProperties", True) is False:
            yield f"{path}: no field {name}"
    for key, inner in (("items", ours.item()), ("additionalProperties", ours.field(""))):
        if isinstance(theirs.get(key), dict) and inner is not None:
            yield from differences(theirs[key], inner, f"{path}[]")


def types(schema: Any) -> set[str]:
    written = schema.get("type", [])
    return {written} if isinstance(written, str) else set(written)


DRIFT = "resources: no field claims"
"""What releases of Kubernetes before 1.29 had in a volume claim, which some CRDs embed."""


@pytest.mark.skipif(SHARED is None, reason="no CRDs beside the checkout")
def test_every_value_of_the_crds_is_taken() -> None:
    wrong = []
    looked = 0
    for kind in published():
        shape = shape_of(kind.api_version, kind.kind)
        if shape is None:
            assert kind.kind in UNSHAPED, kind.kind
            continue
        looked += 1
        found = differences(kind.schema, shape, kind.kind)
        wrong += [one for one in found if not one.endswith(DRIFT)]
    assert wrong == []
    assert looked >= 17


@pytest.mark.skipif(SHARED is None, reason="no CRDs beside the checkout")
def test_what_we_demand_the_crds_demand() -> None:
    wrong = []
    for kind in published():
        shape = shape_of(kind.api_version, kind.kind)
        if shape is not None:
            wrong += list(demands(kind.schema, shape, kind.kind))
    assert wrong == []


def demands(theirs: Any, ours: Shape, path: str) -> Iterator[str]:
    """Fields, and bounds, that only our shape asks for. Built-in types are the API server's, and so are
    the words of a field that ends in a pod."""
    if "$ref" in ours.schema and "kubernetes/" in ours.schema["$ref"]:
        return
    ours = ours.resolved()
    wanted = ours.schema
    extra = set(wanted.get("required", ())) - set(theirs.get("required", ()))
    yield from (f"{path} needs no {name}" for name in sorted(extra))
    for key in ("enum", "pattern", "minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems"):
        there = key in theirs or f"x-linear-{key}" in theirs
        if key in wanted and not there and (key != "enum" or path.rpartition(".")[2] not in VALUES):
            yield f"{path} has no {key}"
    if wanted.get("additionalProperties") is False and theirs.get("additionalProperties") is not False:
        yield f"{path} takes any field"
    for name, field in theirs.get("properties", {}).items():
        known = wanted.get("properties", {}).get(name)
        if known is not None:
            yield from demands(field, Shape(known, ours.file), f"{path}.{name}")
    if "items" in theirs and "items" in wanted:
        yield from demands(theirs["items"], Shape(wanted["items"], ours.file), f"{path}[]")
