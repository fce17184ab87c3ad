"""Whole reports: of the same key, about files of the run, and such that every format can show them."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policykit.formats import FORMATS, FormatContext, format_named
from policykit.linter.finding import Finding, Report
from policykit.manifests.patch import Patch
from policykit.rules import CATALOGUE
from policykit.workspace.cache.codec import encode
from policykit.workspace.cache.folder import Cache, name_of
from policykit.workspace.cache.reports import KEY, load, store
from tests.formats.reports import CONTEXT, EMPTY, FIX, FIXED, MIXED, REPORT
from tests.workspace.cache.values import values

KEYED = b"k" * KEY
PATHS = frozenset({"apps/train.yaml", "apps/名.yaml", "b.yaml", "c.yaml"})


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    return Cache(str(tmp_path / "cache"))


@pytest.mark.parametrize("report", [EMPTY, REPORT, MIXED], ids=["empty", "skipped", "mixed"])
def test_a_report_comes_back(report: Report, cache: Cache) -> None:
    assert load(cache, KEYED, PATHS) is None
    store(cache, KEYED, report)
    assert load(cache, KEYED, PATHS) == report
    assert load(cache, b"l" * KEY, PATHS) is None


@pytest.mark.parametrize(
    "report",
    [
        MIXED._replace(failures=("a.yaml: cannot be read",)),
        MIXED._replace(times=(("PK001", 1.0),)),
        MIXED._replace(
            findings=(FIXED._replace(fix=FIX._replace(patches=(Patch("add", (), float("inf")),))),)
        ),
    ],
    ids=["failed", "timed", "no data"],
)
def test_some_are_not_stored(report: Report, cache: Cache) -> None:
    store(cache, KEYED, report)
    assert load(cache, KEYED, PATHS) is None


WRONG = [
    ("a file that is none of the run", MIXED._replace(findings=(FIXED._replace(path="/etc/passwd"),))),
    ("a rule that does not exist", MIXED._replace(findings=(FIXED._replace(code="PK999"),))),
    ("the name of another rule", MIXED._replace(findings=(FIXED._replace(name="\x1b[31m"),))),
    ("a skipped file that is none of the run", MIXED._replace(skipped=(("/etc/passwd", "why"),))),
    ("a failure", MIXED._replace(failures=("why",))),
    ("times", MIXED._replace(times=(("PK001", 1.0),))),
]


@pytest.mark.parametrize("report", [case[1] for case in WRONG], ids=[case[0] for case in WRONG])
def test_what_cannot_be_of_the_run_is_refused(report: Report, cache: Cache) -> None:
    cache.store(name_of("report"), KEYED + encode(Report, [report])[0])
    assert load(cache, KEYED, PATHS) is None


@pytest.mark.parametrize("raw", [b"", KEYED, KEYED + b"[]", KEYED[:-1], b"k"])
def test_a_damaged_file_is_as_good_as_none(raw: bytes, cache: Cache) -> None:
    cache.store(name_of("report"), raw)
    assert load(cache, KEYED, PATHS) is None


def _of_a_rule(finding: Finding, number: int, path: str) -> Finding:
    entry = CATALOGUE[number % len(CATALOGUE)]
    return finding._replace(code=entry.code, name=entry.name, path=path)


FINDINGS = st.builds(
    _of_a_rule, values(Finding), st.integers(0, len(CATALOGUE) - 1), st.sampled_from(sorted(PATHS))
)


@settings(max_examples=60)
@given(st.lists(FINDINGS, max_size=3).map(tuple), st.booleans())
def test_every_format_can_show_whatever_a_report_says(findings: tuple[Finding, ...], empty: bool) -> None:
    """Places before the first line and beyond the last, edits of nothing, numbers without measure."""
    around = FormatContext() if empty else CONTEXT
    for name in FORMATS:
        format_named(name)(MIXED._replace(findings=findings), around)
