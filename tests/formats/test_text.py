"""Findings as text: excerpts, colours, statistics, and nothing that breaks a line."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policykit.formats import FORMATS, FormatContext, format_named
from policykit.formats.findings import SourceFiles, tally
from policykit.formats.text import excerpt, statistics, summary, text, timings, use_colour
from policykit.linter.finding import Report
from policykit.manifests.node import Span
from tests.formats.reports import CONTEXT, EMPTY, FINDING, FIXED, MIXED, NOTE, REPORT


def test_text() -> None:
    assert text(REPORT, FormatContext()) == (
        "apps/train.yaml:24:9: PK101 error: nothing tolerates a: 1 [missing-toleration]\n"
        "    help: Add the toleration,\n"
        "          or another one.\n"
        "b.yaml:1:1: PK008 info: no kind 节点 [unknown-api-kind]\n"
    )
    assert text(EMPTY, FormatContext()) == ""


def test_the_line_meant_is_shown() -> None:
    assert text(Report((FIXED,), 1, 1), CONTEXT) == (
        "apps/名.yaml:2:7: PK206 warning: 50% of 'Job', it says: never [quota-key-never-counted]\n"
        "    2 | kind: Job\n"
        "      |       ^^^\n"
    )


@pytest.mark.parametrize(
    ("report", "says"),
    [
        (REPORT, "1 error, 1 info (4 objects in 3 files, 1 skipped, 1 suppressed)"),
        (EMPTY, "no findings (0 objects in 0 files)"),
        (
            EMPTY._replace(baselined=2, unchanged=3),
            "no findings (0 objects in 0 files, 2 in the baseline, 3 not new)",
        ),
        (Report((FINDING, FINDING), 1, 1), "2 errors (1 object in 1 file)"),
    ],
)
def test_summary(report: Report, says: str) -> None:
    assert summary(report) == says


def test_tally_is_ordered_by_gravity() -> None:
    assert list(tally(REPORT).items()) == [("error", 1), ("warning", 0), ("info", 1)]


@given(st.text(st.characters(exclude_categories=[])), st.text(st.characters(exclude_categories=[])))
def test_a_finding_is_one_line_whatever_it_quotes(path: str, message: str) -> None:
    said = text(Report((FINDING._replace(path=path, message=message, help=""),), 1, 1), FormatContext())
    assert said.endswith("\n")
    assert said[:-1].isprintable()


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_ends_its_text(name: str) -> None:
    assert format_named(name)(REPORT, FormatContext()).endswith("\n")


def test_a_format_that_does_not_exist() -> None:
    with pytest.raises(KeyError):
        format_named("xml")


def shown(text: str, span: Span) -> tuple[str, str, str] | None:
    return excerpt(
        FINDING._replace(span=span), SourceFiles(lambda path: text.encode("utf-8", "surrogatepass"))
    )


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
        ("# a\rkind: Job\r", Span(2, 7, 2, 10), "kind: Job", "      ^^^"),
        ("a: 1 # \u2028b: 2\u0085c: 3\nd: 4", Span(4, 1, 4, 2), "d: 4", "^"),
    ],
    ids=[
        *("plain", "CRLF", "BOM", "tab", "wide", "combining", "many lines", "at the end", "escape"),
        *("CR", "line separators"),
    ],
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


@pytest.mark.parametrize(
    ("choice", "environment", "terminal", "on"),
    [
        ("always", {"NO_COLOR": "1"}, False, True),
        ("never", {"FORCE_COLOR": "1"}, True, False),
        ("auto", {}, True, True),
        ("auto", {}, False, False),
        ("auto", {"NO_COLOR": "1"}, True, False),
        ("auto", {"NO_COLOR": ""}, True, True),
        ("auto", {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False, True),
        ("auto", {"TERM": "dumb"}, True, False),
        ("auto", {"TERM": "dumb", "FORCE_COLOR": "1"}, False, True),
    ],
)
def test_use_colour(choice: str, environment: dict[str, str], terminal: bool, on: bool) -> None:
    assert use_colour(choice, environment, terminal) is on


@pytest.mark.parametrize("name", ["text", "concise"])
def test_colours_add_nothing_but_colours(name: str) -> None:
    plain = format_named(name)(MIXED, CONTEXT)
    coloured = format_named(name)(MIXED, CONTEXT._replace(colour=True))
    assert coloured != plain
    assert re.sub("\x1b\\[[0-9;]+m", "", coloured) == plain


def test_nothing_else_is_coloured() -> None:
    for name in ("json", "jsonl", "sarif", "github", "gitlab", "junit", "rdjson"):
        assert "\x1b" not in format_named(name)(MIXED, FormatContext(colour=True))


def test_statistics() -> None:
    many = Report((FINDING,) * 10 + (NOTE,), 1, 1)
    assert statistics(many) == ["10  PK101  missing-toleration", " 1  PK008  unknown-api-kind"]
    assert [line.split()[1] for line in statistics(REPORT)] == ["PK008", "PK101"]
    assert statistics(EMPTY) == []


def test_timings() -> None:
    timed = EMPTY._replace(times=(("PK001", 0.001), ("PK101", 0.25)))
    assert timings(timed) == ["     250.0 ms  PK101", "       1.0 ms  PK001", "     251.0 ms  all rules"]
