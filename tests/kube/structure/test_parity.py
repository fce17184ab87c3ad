"""Our interpreter against the jsonschema library: same schemas, same verdicts, place by place."""

from functools import cache
from random import Random
from typing import Any

import jsonschema
import pytest
import referencing
from hypothesis import given, settings
from hypothesis import strategies as st
from referencing.jsonschema import DRAFT202012

from policykit import bundled
from policykit.kube.structure import check
from policykit.kube.structure.admission import refusals
from policykit.kube.structure.schema import target
from policykit.kube.structure.values import scalar_problem
from policykit.manifests.document import manifests
from policykit.manifests.parser import parse
from policykit.manifests.problem import Problem
from tests.shared import SHARED

KINDS: list[tuple[str, str, str]] = [
    (api_version, kind, file)
    for api_version, kinds in bundled.table("schemas", "kinds.json")["shapes"].items()
    for kind, file in kinds.items()
]
BESIDE_THE_SCHEMA = ("conflicting", "inconsistent", "missing-reference")
SYNTAX = {"invalid-label", "invalid-quantity"}
MORE = ("negative", "must be a whole number or text")
"""What our marks ask beyond JSON Schema, and words of what they ask of amounts, also in the pods of CRDs."""


BASE = "https://schemas.invalid/"
RELAXED = "x-relaxed"
PARTIAL = "https://partial.invalid/"
"""The same files without what is required, for what is laid over another value."""


@cache
def registry() -> referencing.Registry[Any]:
    contents: dict[str, Any] = {}
    for file in {"kubernetes/pod.json", "kubernetes/batch.json", *(file for _, _, file in KINDS)}:
        schema = bundled.table("schemas", *file.split("/"))
        contents[BASE + file] = {"$id": BASE + file, **redirected(schema, file)}
        contents[PARTIAL + file] = {"$id": PARTIAL + file, **relaxed(schema)}
    empty: referencing.Registry[Any] = referencing.Registry()
    return empty.with_resources(
        (uri, DRAFT202012.create_resource(schema)) for uri, schema in contents.items()
    )


def redirected(schema: Any, file: str) -> Any:
    """Partial references lead to the files without demands."""
    if isinstance(schema, dict):
        if schema.get("x-partial"):
            return {"$ref": PARTIAL + "kubernetes/" + schema["$ref"].rpartition("/kubernetes/")[2]}
        return {key: redirected(value, file) for key, value in schema.items()}
    return [redirected(value, file) for value in schema] if isinstance(schema, list) else schema


def relaxed(schema: Any) -> Any:
    """Nothing is required, and empty text, which is as good as none, can be told by the mark."""
    if isinstance(schema, dict):
        kept = {k: v for k, v in schema.items() if not (k == "required" and isinstance(v, list))}
        return {key: relaxed(value) for key, value in kept.items()} | {RELAXED: True}
    return [relaxed(value) for value in schema] if isinstance(schema, list) else schema


@cache
def validator(kind: str, file: str) -> Any:
    return jsonschema.Draft202012Validator({"$ref": f"{BASE}{file}#/$defs/{kind}"}, registry=registry())


def without_nulls(data: Any) -> Any:
    if isinstance(data, dict):
        return {key: without_nulls(value) for key, value in data.items() if value is not None}
    if isinstance(data, list):
        return [without_nulls(value) for value in data if value is not None]
    return data


def places(data: Any, kind: str, file: str) -> set[tuple[Any, ...]]:
    """Paths of the library's errors; an unknown field stands at its own key."""
    found: set[tuple[Any, ...]] = set()
    for error in validator(kind, file).iter_errors(data):
        path = tuple(error.absolute_path)
        if error.instance == "" and RELAXED in error.schema:
            continue
        if (
            isinstance(error.instance, str)
            and "_" in error.instance
            and not scalar_problem(error.instance, error.schema)
        ):
            continue  # a placeholder for sed or the like, which passes
        if error.validator == "additionalProperties" and error.schema["additionalProperties"] is False:
            known = error.schema.get("properties", {})
            found |= {(*path, key) for key in error.instance if key not in known}
        else:
            found.add(path)
    return found


def of_the_name(problem: Problem) -> bool:
    """No schema asks for a name, nor says what one looks like; the API server does."""
    missing = problem.message == "the object has no `metadata.name`"
    named = problem.path in [("metadata", field) for field in ("name", "generateName", "namespace")]
    return missing or (named and problem.kind == "bad-value")


def agree(data: Any, api_version: str, kind: str, file: str) -> None:
    theirs = places(data, kind, file)
    problems = [p for p in check(data, api_version, kind) if p.kind not in BESIDE_THE_SCHEMA]
    ours = [p for p in problems if not of_the_name(p)]
    if not file.startswith("argo/"):  # parts of its templates are checked as those of a pod as well
        theirs_and_admission = theirs | {p.path for p in refusals(data, api_version, kind)}
        beside = [p for p in ours if p.kind in SYNTAX or any(words in p.message for words in MORE)]
        assert {p.path for p in ours if p not in beside} <= theirs_and_admission
    # A field is not missing as well where it stands misspelt or misplaced: there we say less.
    if not any(p.kind == "unknown-field" for p in ours):
        assert theirs <= {p.path for p in ours}


@pytest.mark.skipif(SHARED is None, reason="no shared corpus beside the checkout")
def test_verdicts_on_real_manifests() -> None:
    assert SHARED is not None
    known = {(api_version, kind): file for api_version, kind, file in KINDS}
    looked = 0
    for file in sorted(SHARED.glob("corpus/**/*.yaml")) + sorted(SHARED.glob("seeds/manifests/*.yaml")):
        for index, parsed in enumerate(parse(file.read_text(encoding="utf-8"))):
            if parsed.root is None or parsed.problem:
                continue
            for manifest in manifests(parsed.root, index):
                schema = known.get((manifest.api_version, manifest.kind))
                if schema:
                    agree(without_nulls(manifest.data), manifest.api_version, manifest.kind, schema)
                    looked += 1
    assert looked > 100


SCALARS: list[Any] = ["x", "Always", "1", "10Gi", "", "A b", 0, 1, -1, 70000, 1.5, 2.0, True, False]


class Maker:
    """Data made along a schema, wrong here and there."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)

    def value(self, schema: Any, file: str, depth: int) -> Any:
        while "$ref" in schema:
            shape = target(file, schema["$ref"])
            schema, file = shape.schema, shape.file
        if self.random.random() < 0.02 or depth == 0:
            return self.random.choice([*SCALARS, [], {}])
        types = schema.get("type", "object")
        if types == "object":
            return self.mapping(schema, file, depth)
        if types == "array":
            items = schema.get("items", {})
            return [self.value(items, file, depth - 1) for _ in range(self.random.choice([0, 1, 1, 2]))]
        return self.scalar(schema)

    def mapping(self, schema: Any, file: str, depth: int) -> dict[str, Any]:
        properties = schema.get("properties", {})
        if not properties:
            return {"k": self.value(schema.get("additionalProperties") or {}, file, depth - 1)}
        names = [name for name in properties if self.random.random() < 0.3]
        names += [
            name for name in schema.get("required", ()) if name not in names and self.random.random() < 0.98
        ]
        if self.random.random() < 0.002:
            names.append("qqqqqq")
        return {name: self.value(properties.get(name, {}), file, depth - 1) for name in names}

    def scalar(self, schema: Any) -> Any:
        if self.random.random() < 0.1:
            return self.random.choice(SCALARS)
        if "enum" in schema:
            return self.random.choice(schema["enum"])
        types = schema["type"]
        near: dict[str, list[Any]] = {
            "string": ["x", "a-b", "", "A b"],
            "integer": [0, 1, -1, 70000],
            "number": [0, 1, 1.5],
            "boolean": [True, False],
        }
        return self.random.choice(near[types] if isinstance(types, str) else SCALARS)


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 2**32), st.sampled_from(KINDS))
def test_verdicts_on_generated_data(seed: int, known: tuple[str, str, str]) -> None:
    api_version, kind, file = known
    data = Maker(seed).value({"$ref": f"#/$defs/{kind}"}, file, 9)
    if isinstance(data, dict):
        agree(without_nulls(data), api_version, kind, file)
