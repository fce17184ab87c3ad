"""CustomResourceDefinitions read as shapes: what is kept, what is let pass, and nothing ever raises."""

from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from policykit.kube.structure import check
from policykit.kube.structure.crd import custom_kinds
from policykit.kube.structure.schema import ServedApis


def definition(spec: str, **more: Any) -> dict[str, Any]:
    """A CRD of Foo in example.com/v1 whose `spec` has this schema."""
    schema = {"type": "object", "properties": {"spec": yaml.safe_load(spec)}}
    version = {"name": "v1", "served": True, "schema": {"openAPIV3Schema": schema}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "spec": {"group": "example.com", "names": {"kind": "Foo"}, "versions": [version], **more},
    }


def served(crd: dict[str, Any]) -> ServedApis:
    return ServedApis({}, {(kind.api_version, kind.kind): kind.schema for kind in custom_kinds(crd)})


def said(schema: str, spec: str) -> list[str]:
    foo = {
        "apiVersion": "example.com/v1",
        "kind": "Foo",
        "metadata": {"name": "a"},
        "spec": yaml.safe_load(spec),
    }
    return [problem.message for problem in check(foo, "example.com/v1", "Foo", served(definition(schema)))]


ROWS: list[tuple[str, str, str, list[str]]] = [
    (
        "a type",
        "{properties: {a: {type: integer}}}",
        "{a: x}",
        ['spec.a must be a whole number, but is the string "x"'],
    ),
    (
        "an unknown field",
        "{properties: {mode: {}}}",
        "{mdoe: x}",
        ["unknown field spec.mdoe: did you mean `mode`?"],
    ),
    (
        "unknown fields kept",
        "{x-kubernetes-preserve-unknown-fields: true, properties: {a: {}}}",
        "{b: x}",
        [],
    ),
    (
        "known fields where unknown ones are kept",
        "{x-kubernetes-preserve-unknown-fields: true, properties: {a: {type: string}}}",
        "{a: 1, b: x}",
        ["spec.a must be a string, but is the number 1"],
    ),
    (
        "an embedded resource",
        "{properties: {o: {x-kubernetes-embedded-resource: true}}}",
        "{o: {kind: X, z: 1}}",
        [],
    ),
    ("a number or text", "{properties: {p: {x-kubernetes-int-or-string: true}}}", "{p: 80}", []),
    (
        "neither number nor text",
        "{properties: {p: {x-kubernetes-int-or-string: true}}}",
        "{p: true}",
        ["spec.p must be a whole number or a string, but is the boolean true"],
    ),
    (
        "number or text the older way",
        "{properties: {p: {anyOf: [{type: integer}, {type: string}]}}}",
        "{p: 80%}",
        [],
    ),
    ("nothing said below", "{properties: {o: {type: object}}}", "{o: {a: {b: 1}}}", []),
    (
        "any keys of one type",
        "{properties: {o: {additionalProperties: {type: integer}}}}",
        "{o: {a: x}}",
        ['spec.o.a must be a whole number, but is the string "x"'],
    ),
    ("missing", "{required: [a], properties: {a: {}}}", "{}", ["spec has no `a`"]),
    ("missing, with a default", "{required: [a], properties: {a: {default: 1}}}", "{}", []),
    ("null", "{properties: {a: {type: integer}}}", "{a: null}", []),
    (
        "an enum of text",
        "{properties: {a: {type: string, enum: [x, y]}}}",
        "{a: z}",
        ['spec.a is "z", which is not one of x, y'],
    ),
    ("an enum of numbers is not judged", "{properties: {a: {type: integer, enum: [1, 2]}}}", "{a: 3}", []),
    (
        "a pattern",
        '{properties: {a: {type: string, pattern: "^[a-z]+$"}}}',
        "{a: A}",
        ['spec.a is "A", which is not of the form ^[a-z]+$'],
    ),
    ("a pattern only Go reads", '{properties: {a: {type: string, pattern: "^[[:alpha:]]+$"}}}', "{a: x}", []),
    (
        "a pattern that never ends",
        '{properties: {a: {type: string, pattern: "^(a+)+$"}}}',
        f"{{a: {'a' * 50}!}}",
        [f'spec.a is "{"a" * 50}!", which is not of the form ^(a+)+$'],
    ),
    ("a pattern that is none", '{properties: {a: {type: string, pattern: "("}}}', "{a: x}", []),
    (
        "too many items",
        "{properties: {a: {type: array, maxItems: 1}}}",
        "{a: [1, 2]}",
        ["spec.a has 2 items, the maximum is 1"],
    ),
    (
        "too few items",
        "{properties: {a: {type: array, minItems: 2}}}",
        "{a: [1]}",
        ["spec.a has 1 items, the minimum is 2"],
    ),
]


@pytest.mark.parametrize(
    ("schema", "spec", "messages"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS]
)
def test_objects_of_a_custom_kind(schema: str, spec: str, messages: list[str]) -> None:
    assert said(f"{{type: object, {schema[1:]}", spec) == messages


def test_a_quantity_is_told_by_its_pattern() -> None:
    pattern = "^(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))(([KMGTPE]i)|[numkMGTPE])?$"
    schema = {"type": "object", "properties": {"m": {"x-kubernetes-int-or-string": True, "pattern": pattern}}}
    assert said(yaml.safe_dump(schema), "{m: 16GB}") == ['spec.m is "16GB", which is not a quantity']


def test_versions_that_are_served() -> None:
    crd = definition("{type: object}")
    first = crd["spec"]["versions"][0]
    crd["spec"]["versions"] += [{**first, "name": "v2"}, {**first, "name": "v1alpha1", "served": False}]
    assert [kind.api_version for kind in custom_kinds(crd)] == ["example.com/v1", "example.com/v2"]


def test_the_form_of_v1beta1() -> None:
    schema = definition("{type: object, properties: {a: {type: integer}}}")["spec"]["versions"][0]["schema"]
    crd = definition("{}", versions=None, version="v1", validation=schema)
    assert [p.message for p in check({"spec": {"a": "x"}}, "example.com/v1", "Foo", served(crd))][:1] == [
        'spec.a must be a whole number, but is the string "x"'
    ]


def test_metadata_is_that_of_every_object() -> None:
    foo = {"metadata": {"name": "a", "labels": {"x": 1}, "nmae": "b"}}
    found = check(foo, "example.com/v1", "Foo", served(definition("{type: object}")))
    assert [problem.path for problem in found] == [("metadata", "labels", "x"), ("metadata", "nmae")]


def test_the_users_own_kind_wins_over_a_bundled_one() -> None:
    crd = definition("{type: object, properties: {own: {}}}", group="batch", names={"kind": "Job"})
    job = {"metadata": {"name": "a"}, "spec": {"own": 1}}
    assert check(job, "batch/v1", "Job", served(crd)) == ()
    assert check(job, "batch/v1", "Job") != ()


def test_a_schema_too_deep_ends() -> None:
    deep: dict[str, Any] = {"type": "string"}
    for _ in range(3000):
        deep = {"type": "object", "properties": {"a": deep}}
    crd = definition("{}")
    crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"] = deep
    assert len(list(custom_kinds(crd))) == 1


WORDS = st.sampled_from(
    [
        "spec",
        "versions",
        "schema",
        "openAPIV3Schema",
        "properties",
        "items",
        "type",
        "object",
        "array",
        "required",
        "enum",
        "pattern",
        "additionalProperties",
        "x-kubernetes-int-or-string",
        "anyOf",
        "minItems",
        "default",
        "a",
    ]
)
ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | WORDS | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(WORDS, inner, max_size=6),
    max_leaves=30,
)


@given(ANY, ANY, ANY)
def test_any_definition_and_any_object(schema: Any, spec: Any, value: Any) -> None:
    crd = definition("{}")
    crd["spec"]["versions"][0]["schema"] = {"openAPIV3Schema": schema}
    found = served(crd)
    if isinstance(value, dict):
        check(value, "example.com/v1", "Foo", found)
    list(custom_kinds({"kind": "CustomResourceDefinition", "spec": spec}))
    list(custom_kinds(value))
