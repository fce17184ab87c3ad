"""Which documents of a file are others than before."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policykit.workspace.revisions import changed_documents

A, B, C, BROKEN = "a: 1\nx: 2\n", "# about b\nb: 1\nx: 2\n", "c: 3\n", "d: [\n"
STREAM = f"{A}---\n{B}---\n{C}---\n{BROKEN}"


@pytest.mark.parametrize(
    ("now", "documents"),
    [
        (STREAM, set()),
        (STREAM.replace("\n", "\r\n"), set()),
        ("\ufeff" + STREAM, set()),
        (f"---\n{STREAM}", set()),
        (f"{A}\n---\n{B}\n\n---\n{C}", set()),
        (f"{C}---\n{A}", set()),
        (f"{B}---\n{BROKEN}", set()),
        (f"d: 1\n---\n{STREAM}", {0}),
        (f"{A}---\na: 1\nx: 3\n---\n{B}", {1}),
        (f"{A}---\n{C}---\n{A}---\n{BROKEN}", {2}),
        (f"# new\n{STREAM}", {0}),
        (STREAM.replace("x: 2\n---\n# about b", "# about b"), {0}),
        (STREAM.replace("x: 2", "x: 9"), {0, 1}),
        (f"{STREAM}e", {3}),
        (f"{A}---\n{B}---\n\tbroken\n---\n{C}", {2}),
        ("", set()),
    ],
    ids=[
        "nothing",
        "line endings",
        "a byte order mark",
        "a marker at the beginning",
        "blank lines and a document gone",
        "another order",
        "the first gone",
        "one added before",
        "one added between",
        "one once more",
        "a comment",
        "a marker gone",
        "two lines",
        "a broken one",
        "a broken one added",
        "everything gone",
    ],
)
def test_changed_documents(now: str, documents: set[int]) -> None:
    assert changed_documents(STREAM.encode(), now.encode()) == documents


@given(st.lists(st.sampled_from([A, B, C])), st.lists(st.sampled_from([A, B, C, "n: 1\n"])))
def test_as_many_as_were_there_are_old(before: list[str], now: list[str]) -> None:
    changed = changed_documents("---\n".join(before).encode(), "---\n".join(now).encode())
    kept = [text for position, text in enumerate(now) if position not in changed]
    assert all(kept.count(text) == min(before.count(text), now.count(text)) for text in {*before, *now})


@given(st.binary(), st.binary())
def test_any_bytes(before: bytes, now: bytes) -> None:
    assert changed_documents(now, now) == frozenset()
    assert all(position >= 0 for position in changed_documents(before, now))
