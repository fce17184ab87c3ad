"""JUnit XML, as a reader of such reports takes it."""

from __future__ import annotations

import junitparser
from hypothesis import given
from hypothesis import strategies as st

from policykit.formats.junit import junit
from policykit.linter.finding import Report
from tests.formats.reports import CONTEXT, EMPTY, FINDING, MIXED


def test_as_it_is_read() -> None:
    suites = junitparser.JUnitXml.fromstring(junit(MIXED, CONTEXT).encode())
    assert (suites.tests, suites.failures, suites.errors) == (3, 2, 0)
    found = {suite.name: [(case.name, [type(r) for r in case.result]) for case in suite] for suite in suites}
    assert found == {
        "apps/train.yaml": [("PK101 missing-toleration 24:9", [junitparser.Failure])],
        "apps/名.yaml": [("PK206 quota-key-never-counted 2:7", [junitparser.Failure])],
        "b.yaml": [("PK008 unknown-api-kind 1:1", [])],
    }


def test_clean_files_pass() -> None:
    suites = junitparser.JUnitXml.fromstring(junit(EMPTY, CONTEXT).encode())
    assert (suites.tests, suites.failures) == (2, 0)
    assert [case.is_passed for suite in suites for case in suite] == [True, True]


@given(st.text(st.characters(exclude_categories=[])), st.text(st.characters(exclude_categories=[])))
def test_any_text_is_xml(message: str, path: str) -> None:
    odd = FINDING._replace(message=message, path=path)
    suites = junitparser.JUnitXml.fromstring(junit(Report((odd,), 1, 1), CONTEXT).encode("utf-8"))
    assert suites.failures == 1
