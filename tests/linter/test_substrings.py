"""Texts that a file certainly lacks: however its scalars are written, and after other files."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policykit.linter.substrings import absent_in_python, absent_substrings


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("kind: Queue", {"toleration"}),
        ("tolerations: []", {"Queue"}),
        ("", {"Queue", "toleration"}),
        ("run: 'C:\\temp'", {"Queue", "toleration"}),
        ('kind: "Que\\u0075e"', set()),
        ('kind: "Que\\x75e"', set()),
        ('kind: "Que\\U00000075e"', set()),
        ('kind: "Que\\\n  ue"', set()),
        ('kind: "Que\\\r\n  ue"', set()),
        ('kind: "Que\\\u2028ue"', set()),
        ('{"kind": "a\\/b"}', set()),
    ],
)
def test_only_what_no_scalar_can_say_is_absent(text: str, left: set[str]) -> None:
    assert absent_substrings(text, frozenset({"Queue", "toleration"})) == left


@given(
    st.lists(st.text("hnode.s\n", max_size=30), min_size=1, max_size=4),
    st.frozensets(st.text("hnode.s", min_size=1, max_size=6), max_size=8),
)
def test_words_that_texts_lack_one_after_the_other(texts: list[str], words: frozenset[str]) -> None:
    """What is known of the lines of a text helps with the next one, and words may have a part in common."""
    for text in texts:
        assert absent_in_python(text, words) == {word for word in words if word not in text}


def test_words_anywhere_in_a_large_text() -> None:
    """It is searched in parts; a line of any length is in one of them."""
    text = "a: b\n" * 300_000 + "c: toleration\n" + "x" * 1_500_000 + "Queue\nd: e\n" * 2
    absent = absent_in_python(text, frozenset({"toleration", "Queue", "d:", "affinity"}))
    assert absent == {"affinity"}
