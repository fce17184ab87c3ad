"""Kinds of faults written by hand, one manifest each, are found without a policy."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from policykit import api
from policykit.model.severity import Severity
from tests.expected import Expected

_FAULTS: list[dict[str, Any]] = yaml.safe_load(
    (Path(__file__).parent / "by_hand.yaml").read_text(encoding="utf-8")
)


@pytest.mark.parametrize("row", _FAULTS, ids=lambda row: row["fault"])
def test_a_fault_is_found_or_its_miss_is_explained(row: dict[str, Any]) -> None:
    text: str = row["manifest"]
    findings = api.lint_texts({"manifest.yaml": text.encode()}).findings
    last = text.count("\n---\n")
    said = [f"{one.document} {one.pointer} {one.code} {one.severity} {one.message}" for one in findings]
    found = Expected(last, row["at"], Severity[row["least"].upper()]).among(findings)
    assert found is ("missed" not in row), "\n".join(said)
