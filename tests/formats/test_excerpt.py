"""The line a finding points at, and the marks below it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policykit.formats.excerpt import excerpt
from policykit.formats.places import Files
from policykit.manifests.node import Span
from tests.formats.reports import FINDING


def shown(text: str, span: Span) -> tuple[str, str, str] | None:
    return excerpt(FINDING._replace(span=span), Files(lambda path: text.encode("utf-8", "surrogatepass")))


@pytest.mark.parametrize(
    ("text", "span", "line", "marks"),
    [
        ("a: 1\nkind: Job\n", Span(2, 7, 2, 10), "kind: Job", "      ^^^"),
        ("kind: Job\r\n", Span(1, 7, 1, 10), "kind: Job", "      ^^^"),
        ("\ufeffkind: Job", Span(1, 1, 1, 5), "kind: Job", "^^^^"),
        ("\ta: 1", Span(1, 2, 1, 3), " a: 1", " ^"),
        ("名: 节点 # 1", Span(1, 4, 1, 6), "名: 节点 # 1", "    ^^^^"),
        ("a: e\u0301x", Span(1, 6, 1, 7), "a: e\u0301x", "    ^"),
        ("key: |", Span(1, 6, 3, 2), "key: |", "     ^"),
        ("key: [", Span(1, 7, 1, 8), "key: [", "      ^"),
        ("a: \x1b[31m", Span(1, 4, 1, 6), "a:  [31m", "   ^^"),
    ],
    ids=["plain", "CRLF", "BOM", "tab", "wide", "combining", "many lines", "at the end", "escape"],
)
def test_excerpt(text: str, span: Span, line: str, marks: str) -> None:
    found = shown(text, span)
    assert found is not None
    assert found[1:] == (line, marks)
    assert found[0] == str(span.line)


@pytest.mark.parametrize(
    ("text", "span"), [("", Span(1, 1, 1, 2)), ("a\n  \n", Span(2, 1, 2, 2)), ("a", Span(9, 1, 9, 2))]
)
def test_nothing_to_show(text: str, span: Span) -> None:
    assert shown(text, span) is None


def test_a_long_line_is_cut_around_the_place() -> None:
    found = shown("x" * 500 + "HERE" + "y" * 500, Span(1, 501, 1, 505))
    assert found is not None
    _, line, marks = found
    assert line == "..." + "x" * 30 + "HERE" + "y" * 66 + "..."
    assert line[marks.index("^") : len(marks)] == "HERE"


@given(st.text(), st.integers(1, 9), st.integers(1, 200), st.integers(0, 300))
def test_any_place_of_any_text(text: str, line: int, column: int, length: int) -> None:
    found = shown(text.replace("\ud800", ""), Span(line, column, line, column + length))
    if found is not None:
        assert "\n" not in "".join(found)
        assert set(found[2]) <= {" ", "^"}
        assert "^" in found[2]
