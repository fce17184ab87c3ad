"""The words of a suppression, in comments and annotations."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policykit.linter.suppression_syntax import Directive, is_day, of_annotation, of_comment, without

WORDS = st.lists(st.sampled_from(["PK101", "PK2", "missing-toleration", "x"]), max_size=5)
SEPARATORS = st.sampled_from([",", ", ", " ", " , ", "\t"])


@pytest.mark.parametrize(
    ("rest", "directive"),
    [
        ("", Directive(("PK1",))),
        (" -- why", Directive(("PK1",), None, "why")),
        ("--why", Directive(("PK1",), None, "why")),
        (" -- until it works", Directive(("PK1",), None, "until it works")),
        (" until 2030-01-31", Directive(("PK1",), "2030-01-31")),
        ("  until  2030-01-31  --  why -- indeed ", Directive(("PK1",), "2030-01-31", "why -- indeed")),
        (" until", Directive(("PK1",), "")),
        (" until -- why", Directive(("PK1",), "", "why")),
        (" until the end of May", Directive(("PK1",), "the end of May")),
        (" untilled", Directive()),
        (" because", Directive()),
        (" since until 2030-01-31", Directive()),
    ],
)
def test_of_comment(rest: str, directive: Directive) -> None:
    assert of_comment("PK1", rest) == directive


@pytest.mark.parametrize(
    ("text", "directive"),
    [
        ("PK101", Directive(("PK101",))),
        (
            "PK101, PK103 until 2030-01-31 -- until then",
            Directive(("PK101", "PK103"), "2030-01-31", "until then"),
        ),
        ("PK101\nPK103 until\n2030-01-31", Directive(("PK101", "PK103"), "2030-01-31")),
        ("until 2030-01-31", Directive((), "2030-01-31")),
        (" , ", Directive()),
    ],
)
def test_of_annotation(text: str, directive: Directive) -> None:
    assert of_annotation(text) == directive


@pytest.mark.parametrize(
    ("until", "today", "expired"),
    [
        ("2030-01-31", "2030-01-31", False),
        ("2030-01-31", "2030-02-01", True),
        ("2030-01-31", "", False),
        ("2030-02-30", "2031-01-01", False),
        ("", "2031-01-01", False),
        (None, "2031-01-01", False),
    ],
)
def test_expired(until: str | None, today: str, expired: bool) -> None:
    assert Directive(("PK1",), until).expired(today) is expired


@pytest.mark.parametrize("text", ["2028-02-29", "0001-01-01", "9999-12-31"])
def test_days(text: str) -> None:
    assert is_day(text)


@pytest.mark.parametrize(
    "text", ["2027-02-29", "2027-13-01", "27-01-01", "20270101", "2027-1-1", "٢٠٢٧-01-01"]
)
def test_no_days(text: str) -> None:
    assert not is_day(text)


@pytest.mark.parametrize(
    ("names", "gone", "left"),
    [
        ("PK1,PK2, PK3", ["PK2"], "PK1, PK3"),
        ("PK1,PK2, PK3", ["PK1"], "PK2, PK3"),
        (" PK1 , PK2 ", ["PK2"], " PK1 "),
        ("PK1 PK1 PK2", ["PK1"], "PK2"),
        ("PK1", ["PK1"], ""),
        ("PK1", ["PK2"], "PK1"),
        ("", ["PK1"], ""),
    ],
)
def test_without(names: str, gone: list[str], left: str) -> None:
    assert without(names, gone) == left


@given(WORDS, SEPARATORS, st.sets(st.sampled_from(["PK101", "PK2", "x"])))
def test_without_leaves_exactly_the_others(words: list[str], separator: str, gone: set[str]) -> None:
    left = without(separator.join(words), gone)
    assert [word for word in re.split(r"[,\s]+", left) if word] == [
        word for word in words if word not in gone
    ]


@given(st.text())
def test_any_text(text: str) -> None:
    assert isinstance(of_annotation(text).expired("2030-01-01"), bool)
    assert isinstance(of_comment(text, text).expired("2030-01-01"), bool)
