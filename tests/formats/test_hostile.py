"""No format hands on what a terminal or a CI system would obey, whatever a finding quotes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policykit.formats import FORMATS, FormatContext, format_named
from policykit.formats.github import step_summary
from policykit.linter.finding import Finding, Report, Resource, TextFix
from policykit.manifests.extents import Edit
from policykit.manifests.node import Span
from policykit.model.severity import Applicability, Severity
from tests.hostile import HOSTILE, ODD, obeyed

RESOURCES = st.builds(Resource, ODD, ODD, st.none() | ODD, ODD)
EDITS = st.tuples(st.builds(Edit, st.just(0), st.just(1), ODD))
FIXES = st.builds(TextFix, st.sampled_from(Applicability), ODD, EDITS, st.just(()))
FINDINGS = st.builds(
    Finding,
    ODD,
    st.just(Span(1, 1, 1, 3)),
    st.just("PK101"),
    st.just("missing-toleration"),
    st.sampled_from(Severity),
    ODD,
    ODD,
    resource=st.none() | RESOURCES,
    pointer=ODD,
    fix=st.none() | FIXES,
    field=ODD,
    source=ODD,
)
WORST = Finding(
    HOSTILE,
    Span(1, 1, 1, 3),
    "PK101",
    "missing-toleration",
    Severity.ERROR,
    HOSTILE,
    f"{HOSTILE}\n::error::{HOSTILE}",
    resource=Resource(HOSTILE, HOSTILE, HOSTILE, HOSTILE),
    pointer=HOSTILE,
    fix=TextFix(Applicability.SAFE, HOSTILE, (Edit(0, 1, HOSTILE),)),
    field=HOSTILE,
    source=HOSTILE,
)


def shown(name: str, findings: list[Finding], text: str, colour: bool) -> str:
    raw = text.encode("utf-8", errors="surrogatepass")
    report = Report(tuple(findings), 1, 1, failures=(text,) if name == "sarif" else ())
    around = FormatContext(lambda path: raw, "/", tuple(finding.path for finding in findings), colour)
    return format_named(name)(report, around)


@pytest.mark.parametrize("name", FORMATS)
def test_nothing_is_obeyed(name: str) -> None:
    @given(st.lists(FINDINGS, max_size=3), ODD, st.booleans())
    def holds(findings: list[Finding], text: str, colour: bool) -> None:
        assert obeyed(shown(name, findings, text, colour)) == []

    holds()
    assert obeyed(shown(name, [WORST], HOSTILE, True)) == []


def test_nothing_in_the_summary_of_a_step() -> None:
    @given(st.lists(FINDINGS, max_size=3))
    def holds(findings: list[Finding]) -> None:
        assert obeyed(step_summary(Report(tuple(findings), 1, 1), FormatContext())) == []

    holds()
    summary = step_summary(Report((WORST,), 1, 1), FormatContext())
    assert obeyed(summary) == []
    assert "<b>" not in summary
