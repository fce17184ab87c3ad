"""Kinds of faults written by hand, one manifest each, are found."""

from pathlib import Path
from typing import Any

import pytest

from policykit import api
from policykit.model.severity import Severity
from tests.clusters import cluster
from tests.expected import Expected
from tests.loaded import loaded

_ROWS: list[dict[str, Any]] = [
    row
    for file in sorted(Path(__file__).parent.glob("by_hand*.yaml"))
    for row in loaded(file.read_text(encoding="utf-8"))
]


@pytest.mark.parametrize("row", [row for row in _ROWS if "fault" in row], ids=lambda row: row["fault"])
def test_a_fault_is_found_or_its_miss_is_explained(row: dict[str, Any]) -> None:
    text: str = row["manifest"]
    findings = api.lint_texts({"manifest.yaml": text.encode()}, cluster(row.get("policy"))).findings
    last = text.count("\n---\n")
    said = [f"{one.document} {one.pointer} {one.code} {one.severity} {one.message}" for one in findings]
    found = Expected(row.get("document", last), row["at"], Severity[row["least"].upper()]).among(findings)
    assert found is ("missed" not in row), "\n".join(said)


@pytest.mark.parametrize("row", [row for row in _ROWS if "right" in row], ids=lambda row: row["right"])
def test_a_right_manifest_has_no_error(row: dict[str, Any]) -> None:
    text: str = row["manifest"]
    findings = api.lint_texts({"manifest.yaml": text.encode()}, cluster(row.get("policy"))).findings
    wrong = [f"{one.code} {one.message}" for one in findings if one.severity is Severity.ERROR]
    assert not wrong
