"""Expressions of others match as Go has them, and none takes more than linear time."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policykit.patterns import pattern

ATOMS = st.sampled_from(["a", "b", "[ab]", "[^a]", ".", r"\d", "[a-c-]", r"\.", "[]a]", "^", "$"])
EXPRESSIONS = st.recursive(
    ATOMS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map("".join),
        st.lists(inner, min_size=1, max_size=3).map(lambda ways: f"({'|'.join(ways)})"),
        st.tuples(inner, st.sampled_from(["*", "+", "?", "{2}", "{1,3}", "{2,}", "*?"])).map(
            lambda parts: f"(?:{parts[0]}){parts[1]}"
        ),
    ),
    max_leaves=8,
)


@given(EXPRESSIONS, st.text("abc.-]1\n", max_size=8))
@settings(max_examples=500, deadline=None)
def test_what_both_read_matches_the_same(expression: str, text: str) -> None:
    ours, whole = pattern(expression), pattern(expression, whole=True)
    assert ours is not None
    assert whole is not None
    theirs = re.compile(expression.replace("$", r"\Z"))
    assert ours.search(text) == bool(theirs.search(text))
    assert whole.search(text) == bool(theirs.fullmatch(text))


@pytest.mark.parametrize(
    ("expression", "text", "matches"),
    [
        ("(a+)+$", "a" * 4000 + "!", False),
        ("((((a*)*)*)*)*b", "a" * 4000, False),
        ("a*a*a*a*a*a*b", "a" * 4000, False),
        ("(((){1000}){1000}){1000}b", "a", False),
        ("(?i)ABC", "xabcx", True),
        (r"^[a-z]+\z", "a\n", False),
        (r"\d", "٣", False),
        ("a", "a" * 5000, None),
    ],
)
def test_linear(expression: str, text: str, matches: bool | None) -> None:
    found = pattern(expression)
    assert found is not None
    assert found.search(text) is matches


@pytest.mark.parametrize(
    "expression",
    [
        *("(", "a)", "[a", "*a", "a**", "x{2,1}", "[z-a]", "\\", r"\pL", r"\b", "(?=a)", "[[:alpha:]]"),
        *("(" * 3000, "a{1,1000}{1,1000}", "a" * 5000, "((a{0,99}){0,99}){0,99}"),
    ],
)
def test_what_is_not_read(expression: str) -> None:
    assert pattern(expression) is None
