"""Whatever stands in a policy file: it compiles, or every mistake has a place and words."""

from __future__ import annotations

import functools
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from policykit.errors import PolicyError
from policykit.manifests.writer import dump
from policykit.policy.load import load_text
from policykit.policy.models.policy import Policy
from policykit.policy.schema import file_schema

SCHEMA = file_schema()
WORDS = st.sampled_from(
    [
        "",
        "a",
        "h20",
        "NVIDIA-H20",
        "none",
        "training",
        "seed",
        "1Gi",
        "-1",
        "é",
        "a b",
        "x" * 64,
        "[1-3]",
        "n-[3-1]",
        "{domain}",
        "%s",
        "key=value:NoSchedule",
        "../x",
        "profile:x",
        "volcano",
        "mig-single",
        "1g.12gb",
    ]
)
SCALARS = st.one_of(st.none(), st.booleans(), st.integers(-3, 10**12), st.floats(allow_nan=False), WORDS)
KEYS = st.one_of(
    WORDS, st.sampled_from(sorted({k for d in SCHEMA["definitions"].values() for k in d["properties"]}))
)
ANYTHING = st.recursive(
    SCALARS,
    lambda below: st.one_of(st.lists(below, max_size=3), st.dictionaries(KEYS, below, max_size=4)),
    max_leaves=12,
)


def told(data: Any) -> None:
    text = dump(data).encode()
    try:
        load_text(text, "policykit.yaml", lambda path: b"- not a policy\n")
    except PolicyError as error:
        for problem in error.problems:
            file, line, column = problem.place.rsplit(":", 2)
            assert file, problem
            assert int(line) >= 1, problem
            assert int(column) >= 1, problem
            assert problem.message, problem


@functools.cache
def named(definition: str) -> st.SearchStrategy[Any]:
    """Deferred, since a definition may hold itself."""
    return st.deferred(lambda: shaped(SCHEMA["definitions"][definition]))


def shaped(schema: dict[str, Any] | bool) -> st.SearchStrategy[Any]:
    """Data that mostly follows a schema, so that meaning is reached and not only form."""
    if isinstance(schema, bool):
        return WORDS | st.integers(-1, 120) | st.booleans()
    if "$ref" in schema:
        return named(schema["$ref"].rpartition("/")[2])
    for group in ("anyOf", "oneOf", "allOf"):
        if group in schema:
            return st.one_of([shaped(option) for option in schema[group]])
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    if "const" in schema:
        return st.just(schema["const"])
    kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    if "object" in kinds:
        known = {name: shaped(entry) for name, entry in schema.get("properties", {}).items()}
        if known:
            return st.fixed_dictionaries({}, optional=known)
        values = schema.get("additionalProperties", True)
        if isinstance(values, dict):
            return st.dictionaries(WORDS, shaped(values), max_size=3)
        return st.dictionaries(WORDS, SCALARS, max_size=3) if values else st.just({})
    if "array" in kinds:
        return st.lists(shaped(schema["items"]), max_size=3)
    simple = {
        "string": WORDS,
        "integer": st.integers(-1, 120),
        "number": st.floats(-1, 9),
        "boolean": st.booleans(),
    }
    return st.one_of([simple[kind] for kind in kinds if kind in simple])


HEAD = {
    "apiVersion": "policykit.io/v1alpha1",
    "kind": "Policy",
    "metadata": {"name": "a"},
    "domain": "d.example",
}
QUICK = settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))


@QUICK
@given(ANYTHING)
def test_any_document(data: Any) -> None:
    told(data)


@QUICK
@given(st.sampled_from([field.alias for field in Policy.model_fields.values()]), ANYTHING)
def test_anything_under_a_key(key: str | None, data: Any) -> None:
    told({**HEAD, str(key): data})


@QUICK
@given(shaped(SCHEMA))
def test_anything_of_the_right_form(data: dict[str, Any]) -> None:
    told({**HEAD, "cards": {"h20": {"product": "NVIDIA-H20"}}, **data})
