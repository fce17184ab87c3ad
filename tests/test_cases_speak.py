"""Faults seen in other people's repositories are found, without a policy."""

import csv
from functools import cache

import pytest

from policykit import api
from policykit.linter.finding import Finding
from policykit.model.severity import Severity
from tests.expected import Expected
from tests.shared import SHARED

_CASES = SHARED / "cases" / "speak" if SHARED else None

pytestmark = pytest.mark.skipif(
    _CASES is None or not _CASES.is_dir(), reason="no shared cases beside the checkout"
)


def _rows() -> list[tuple[str, Expected]]:
    if _CASES is None or not _CASES.is_dir():
        return []
    with (_CASES / "expect.tsv").open(encoding="utf-8") as table:
        return [
            (row["file"], Expected(int(row["document"]), row["pointer"], Severity[row["severity"].upper()]))
            for row in csv.DictReader(table, delimiter="\t")
        ]


@cache
def _findings(name: str) -> tuple[Finding, ...]:
    assert _CASES is not None
    return api.lint_texts({name: (_CASES / name).read_bytes()}).findings


@pytest.mark.parametrize(("name", "expected"), _rows())
def test_a_fault_is_found(name: str, expected: Expected) -> None:
    said = [f"{one.document} {one.pointer} {one.code} {one.severity}" for one in _findings(name)]
    assert expected.among(_findings(name)), "\n".join(said)
