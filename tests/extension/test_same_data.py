"""The values and the words of data are the same with and without the extension."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policykit import extension
from policykit.linter.substrings import absent_in_python
from policykit.manifests.document import Words, words_in_python
from policykit.manifests.path import lookup_in_python
from policykit.rules import CATALOGUE
from policykit.targets import ALL_TARGETS

pytestmark = pytest.mark.skipif(
    not extension.compiled, reason="without the extension, or with POLICYKIT_EXTENSION=0"
)


class Text(str):
    """Equal to its text."""


DATA = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3) | st.tuples(st.text()),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=3), inner),
)


def compiled(data: object) -> Words | None:
    found = extension.compiled.words(data)
    return None if found is None else Words(*found)


@given(DATA)
def test_any_data(data: object) -> None:
    assert compiled(data) == words_in_python(data)


@pytest.mark.parametrize("data", [{1: "a"}, {Text("a"): "b"}, [Text("a")], [[{None: {}}]]])
def test_what_is_not_plain_is_left_to_python(data: object) -> None:
    assert compiled(data) is None


STEPS = st.text("ab", max_size=1) | st.integers(-3, 3) | st.sampled_from([True, None, 1.0, 2**70, -(2**70)])
NESTED = st.recursive(
    st.none() | st.integers(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(STEPS, inner, max_size=3),
)


@given(NESTED, st.lists(STEPS, max_size=4))
def test_any_path(data: object, path: list[Any]) -> None:
    expected = lookup_in_python(data, path)
    assert extension.compiled.lookup(data, path) is expected
    assert extension.compiled.lookup(data, tuple(path)) is expected


@pytest.mark.parametrize("arguments", [(), ({},), ({}, (), ()), ({}, 1), ({}, ([],)), ({}, (1, {}))])
def test_arguments_that_are_no_path(arguments: tuple[Any, ...]) -> None:
    outcomes = []
    for function in (extension.compiled.lookup, lookup_in_python):
        try:
            outcomes.append(function(*arguments))
        except TypeError:
            outcomes.append("TypeError")
    assert outcomes[0] == outcomes[1]


@given(
    st.text("abcd-é", max_size=30),
    st.frozensets(st.text("abcd-", min_size=3, max_size=6) | st.text("abé", max_size=4), max_size=8),
)
def test_words_that_a_text_lacks(text: str, words: frozenset[str]) -> None:
    expected = frozenset(word for word in words if word not in text)
    assert absent_in_python(text, words) == expected
    found = extension.compiled.absent(text, tuple(words))
    assert found is None or sorted(found) == sorted(expected)
    plain = tuple(word for word in words if word.isascii() and len(word) >= 3)
    if text.isascii():
        assert extension.compiled.absent(text, plain) == tuple(word for word in plain if word in expected)


def test_every_word_of_the_rules_is_for_the_extension() -> None:
    """One word that it leaves to Python would leave all of them to Python, in every file."""
    of_rules = [word for rule in CATALOGUE for word in rule.substrings]
    words = (*of_rules, *ALL_TARGETS.substrings)
    assert extension.compiled.absent("", words) == words


def test_words_of_rules() -> None:
    """The end of a text, and words that begin alike, in a text of nothing else."""
    words = tuple(f"volcano.sh/{name}" for name in ("queue", "queue-name", "q", "queues", "group"))
    for text in ("volcano.sh/queue", "volcvolcano.sh/q", "volcano.sh/", "volcano.sh/groups " * 3, ""):
        assert extension.compiled.absent(text, words) == tuple(word for word in words if word not in text)
    assert extension.compiled.absent("text", ("text",) * 1001) is None


def test_depth_is_bounded() -> None:
    data: object = "deepest"
    for _ in range(100_000):
        data = [data]
    assert compiled(data) is None
    assert words_in_python(data) == Words(frozenset(), frozenset({"deepest"}))
