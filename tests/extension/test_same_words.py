"""The words of data are the same with and without the extension."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policykit.manifests import extension
from policykit.manifests.document import Words, words_in_python

pytestmark = pytest.mark.skipif(
    not extension.words, reason="without the extension, or with POLICYKIT_EXTENSION=0"
)


class Text(str):
    """Equal to its text."""


DATA = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3) | st.tuples(st.text()),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=3), inner),
)


def compiled(data: object) -> Words | None:
    found = extension.words.words(data)
    return None if found is None else Words(*found)


@given(DATA)
def test_any_data(data: object) -> None:
    assert compiled(data) == words_in_python(data)


@pytest.mark.parametrize("data", [{1: "a"}, {Text("a"): "b"}, [Text("a")], [[{None: {}}]]])
def test_what_is_not_plain_is_left_to_python(data: object) -> None:
    assert compiled(data) is None


def test_depth_is_bounded() -> None:
    data: object = "deepest"
    for _ in range(100_000):
        data = [data]
    assert compiled(data) is None
    assert words_in_python(data) == Words(frozenset(), frozenset({"deepest"}))
