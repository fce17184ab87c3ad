"""Reports of users in public threads: lint names the cause, and leaves right manifests alone."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from policykit import api
from policykit.linter.finding import Finding
from policykit.model.severity import Severity
from tests.clusters import cluster
from tests.loaded import loaded

CASES: list[dict[str, Any]] = [
    case
    for file in sorted(Path(__file__).parent.glob("*.yaml"))
    for case in loaded(file.read_text(encoding="utf-8"))
]


def findings(case: dict[str, Any]) -> tuple[Finding, ...]:
    return api.lint_texts({"report.yaml": case["manifest"].encode()}, cluster(case.get("policy"))).findings


def shown(found: tuple[Finding, ...]) -> str:
    return "\n".join(f"{one.severity.value} {one.code} {one.message}" for one in found)


def names_the_cause(case: dict[str, Any], found: tuple[Finding, ...]) -> bool:
    words = re.compile(case["finds"]["words"], re.IGNORECASE | re.DOTALL)
    least = Severity(case["finds"]["severity"]).rank
    said = [one for one in found if words.search(f"{one.message}\n{one.help}\n{one.name}")]
    return any(one.severity.rank <= least for one in said)


@pytest.mark.parametrize("case", [case for case in CASES if "finds" in case], ids=lambda case: case["name"])
def test_the_cause_is_named(case: dict[str, Any]) -> None:
    found = findings(case)
    assert names_the_cause(case, found) is ("missed" not in case), shown(found)


@pytest.mark.parametrize("case", [case for case in CASES if "quiet" in case], ids=lambda case: case["name"])
def test_a_right_manifest_has_no_error(case: dict[str, Any]) -> None:
    wrong = tuple(one for one in findings(case) if one.severity is Severity.ERROR)
    assert not wrong, shown(wrong)


def test_many_are_right() -> None:
    assert len(CASES) > 120
    assert sum("quiet" in case for case in CASES) > 45
    assert len({case["source"] for case in CASES}) == len(CASES)
