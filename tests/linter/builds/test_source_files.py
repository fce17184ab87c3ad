"""Paths of built objects, followed into what they were made of."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from policykit.linter.builds.source_files import existing_part, is_for, match_path, path_of_pointer
from policykit.manifests.document import Manifest, manifests
from policykit.manifests.parser import parse
from policykit.manifests.path import Path, lookup, pointer

BUILT = {
    "containers": [{"name": "added"}, {"name": "main", "env": [{"name": "A", "value": "1"}]}],
    "tolerations": [{"key": "a"}, {"key": "a", "operator": "Exists"}],
    "terms": [{"values": ["one", "two"]}],
}

FOLLOWED = [
    ("a key", "containers: []", ("containers",), ("containers",)),
    (
        "an item by its name",
        "containers: [{name: main}]",
        ("containers", 1, "name"),
        ("containers", 0, "name"),
    ),
    ("an item that is not there", "containers: [{name: other}]", ("containers", 1, "name"), ("containers",)),
    (
        "an equal item before one of its key",
        "tolerations: [{key: a, operator: Exists}, {key: a}]",
        ("tolerations", 0, "key"),
        ("tolerations", 1, "key"),
    ),
    ("the only item", "terms: [{values: [two]}]", ("terms", 0, "values", 1), ("terms", 0, "values", 0)),
    (
        "a value that is not there",
        "terms: [{values: [six]}]",
        ("terms", 0, "values", 1),
        ("terms", 0, "values"),
    ),
    ("another shape", "containers: main", ("containers", 0), ("containers",)),
    ("nothing", "other: 1", ("containers", 0), ()),
]


@pytest.mark.parametrize(
    ("text", "path", "expected"), [case[1:] for case in FOLLOWED], ids=[case[0] for case in FOLLOWED]
)
def test_how_far_a_path_leads(text: str, path: Path, expected: Path) -> None:
    root = next(parse(text)).root
    assert root is not None
    assert match_path(root, BUILT, path).path == expected


VALUES: st.SearchStrategy[Any] = st.recursive(
    st.text(max_size=3) | st.integers() | st.none(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("ab01/~"), inner, max_size=3),
    max_leaves=8,
)
PATHS = st.lists(st.sampled_from("ab01/~") | st.integers(0, 2), max_size=5).map(tuple)


@given(VALUES, VALUES, PATHS)
def test_any_path_through_any_shapes(built: Any, other: Any, path: Path) -> None:
    root = next(parse(yaml.safe_dump(other, allow_unicode=False))).root
    if root is None:
        return
    found = match_path(root, built, path)
    assert lookup(root.data, found.path) == found.node.data
    assert len(found.path) <= len(path)


@given(VALUES, PATHS)
def test_what_exists_of_a_path_is_its_beginning_and_a_pointer_leads_back(built: Any, path: Path) -> None:
    there = existing_part(built, path)
    assert path[: len(there)] == there
    assert path_of_pointer(built, pointer(there)) == there


def made(name: str) -> Manifest:
    (parsed,) = parse(f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\n")
    assert parsed.root is not None
    return next(manifests(parsed.root, 0))


@pytest.mark.parametrize(
    ("wanted", "name", "chosen"),
    [
        ("web", "web", True),
        ("web", "web-2", False),
        ("web.*", "web-2", True),
        ("web|api", "api", True),
        ("(web", "web", False),
        ("a{99999999999999999999}", "a", False),
        ("(a+)+", "a" * 50 + "-", False),
    ],
)
def test_a_target_names_objects_by_an_expression(wanted: str, name: str, chosen: bool) -> None:
    one = made(name)
    assert is_for({"kind": "ConfigMap", "name": wanted}, None, one, one) is chosen
