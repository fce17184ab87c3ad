"""The YAML of a policy: it says what the data says, and comments stand where they belong."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policykit.importer.draft import Draft, policy_lines
from policykit.manifests.parser import parse

TEXT = st.text(st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"]), max_size=12)
KEY = st.one_of(
    st.sampled_from(["a", "nvidia.com/gpu", "on", "1", "a,b", "x]"]), TEXT.filter(lambda key: key != "<<")
)
SCALAR = st.one_of(
    TEXT,
    st.integers(-(10**12), 10**12),
    st.booleans(),
    st.sampled_from(["train-[01-16]", "1.15.1", "a, b", "{x"]),
)
DATA = st.recursive(
    SCALAR,
    lambda inner: st.one_of(
        st.lists(SCALAR, max_size=4),
        st.lists(st.dictionaries(KEY, inner, min_size=1, max_size=3), max_size=3),
        st.dictionaries(KEY, inner, max_size=4),
    ),
    max_leaves=20,
)
"""As policies hold it: no lists within lists."""


def read(text: str) -> Any:
    (document,) = [document for document in parse(text) if document.root is not None or document.problem]
    assert document.problem is None
    assert document.root is not None
    return document.root.data


@given(st.dictionaries(KEY, DATA, min_size=1, max_size=4))
def test_any_data_is_read_back_equal(data: dict[str, Any]) -> None:
    assert read("\n".join(policy_lines(data)) + "\n") == data


@pytest.mark.parametrize(
    ("data", "lines"),
    [
        ({"a": {"b": 1, "c": "x"}}, ["a: {b: 1, c: x}"]),
        ({"a": {"b": {"c": 1}}}, ["a:", "  b: {c: 1}"]),
        ({"a": {"x": {"b": {"names": ["n-[1-3]"]}}}}, ["a:", '  x: {b: {names: ["n-[1-3]"]}}']),
        ({"a": {"x": {"b": [1], "c": [2]}}}, ["a:", "  x:", "    b: [1]", "    c: [2]"]),
        ({"a": [{"b": [1]}, {"c": 2}]}, ["a:", "  - {b: [1]}", "  - {c: 2}"]),
        ({"a": ["x" * 60, "y" * 60]}, ["a:", f"  - {'x' * 60}", f"  - {'y' * 60}"]),
        ({"a": [], "b": {}}, ["a: []", "b: {}"]),
        ({"a": ["b,c"]}, ['a: ["b,c"]']),
    ],
    ids=["flow", "sections are blocks", "one in one", "several", "items", "long", "empty", "comma"],
)
def test_what_stands_on_one_line(data: dict[str, Any], lines: list[str]) -> None:
    assert policy_lines(data) == lines


def test_notes_and_captions() -> None:
    draft = Draft()
    draft.data = {"apiVersion": "v1", "pools": {"a": {"usage": "x", "nodes": [1]}}, "lost": 1}
    draft.caption(("pools",), "first\nsecond")
    draft.note(("pools", "a", "usage"), "guessed")
    draft.note(("pools", "a", "nodes"), "n" * 120)
    draft.note(("pools", "b"), "of nothing")
    draft.remove(("lost",))
    assert draft.text() == (
        "apiVersion: v1\n\n# first\n# second\npools:\n  a:\n    usage: x  # guessed\n"
        f"    # {'n' * 120}\n    nodes: [1]\n"
    )


def test_what_is_left_empty_goes_too_but_for_entries_of_sections() -> None:
    draft = Draft()
    draft.data = {"pools": {"a": {"nodes": [{"labels": {"k": "v"}}]}, "b": {"card": "c"}}}
    draft.remove(("pools", "a", "nodes", 0, "labels", "k"))
    assert draft.data == {"pools": {"a": {}, "b": {"card": "c"}}}
    draft.remove(("pools", "a"))
    draft.remove(("pools", "b"))
    assert draft.data == {}
