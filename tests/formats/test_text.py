"""Findings as text: one line each, the help below, nothing that breaks a line."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policykit.formats import FORMATS, Around, format_named
from policykit.formats.text import summary, tally, text
from policykit.linter.finding import Report
from tests.formats.reports import AROUND, EMPTY, FINDING, FIXED, REPORT


def test_text() -> None:
    assert text(REPORT, Around()) == (
        "apps/train.yaml:24:9: PK101 nothing tolerates a: 1 [missing-toleration]\n"
        "    help: Add the toleration,\n"
        "          or another one.\n"
        "b.yaml:1:1: PK008 no kind 节点 [unknown-api-kind]\n"
    )
    assert text(EMPTY, Around()) == ""


def test_the_line_meant_is_shown() -> None:
    assert text(Report((FIXED,), 1, 1), AROUND) == (
        "apps/名.yaml:2:7: PK206 50% of 'Job', it says: never [quota-key-never-counted]\n"
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
            "no findings (0 objects in 0 files, 2 in the baseline, 3 in unchanged documents)",
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
    said = text(Report((FINDING._replace(path=path, message=message, help=""),), 1, 1), Around())
    assert said.endswith("\n")
    assert said[:-1].isprintable()


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_ends_its_text(name: str) -> None:
    assert format_named(name)(REPORT, Around()).endswith("\n")


def test_a_format_that_does_not_exist() -> None:
    with pytest.raises(KeyError):
        format_named("xml")
