"""SARIF: valid by its published schema, and what GitHub asks for beyond it."""

from __future__ import annotations

import json
from typing import Any

import jsonschema

from policykit.formats import FormatContext
from policykit.formats.sarif import sarif
from policykit.linter.finding import Report
from tests.formats.published import sarif_schema
from tests.formats.reports import CONTEXT, EMPTY, FINDING, FIXED, MIXED


def run_of(report: Report, context: FormatContext = CONTEXT) -> dict[str, Any]:
    data = json.loads(sarif(report, context))
    assert data["version"] == "2.1.0"
    (run,) = data["runs"]
    return dict(run)


def test_valid_by_the_schema() -> None:
    failed = MIXED._replace(failures=("a.yaml: cannot be read",))
    for report in (MIXED, EMPTY, failed):
        jsonschema.validate(json.loads(sarif(report, CONTEXT._replace(root="/repo"))), sarif_schema())


def test_results_and_their_rules() -> None:
    run = run_of(MIXED)
    rules = run["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == ["PK008", "PK101", "PK206"]
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
    for rule in rules:
        assert 0 < len(rule["fullDescription"]["text"]) <= 1024
        assert "Good:" in rule["help"]["markdown"]
        assert "security-severity" not in rule["properties"]
    first = run["results"][0]
    assert first["level"] == "error"
    assert first["message"]["text"] == "nothing tolerates a: 1. Help: Add the toleration,\nor another one."
    assert first["locations"][0]["physicalLocation"] == {
        "artifactLocation": {"uri": "apps/train.yaml", "uriBaseId": "SRCROOT"},
        "region": {"startLine": 24, "startColumn": 9, "endLine": 24, "endColumn": 40},
    }
    assert [result["level"] for result in run["results"]] == ["error", "warning", "note"]
    assert run["columnKind"] == "unicodeCodePoints"


def test_a_fix_in_lines_and_columns() -> None:
    (result,) = run_of(Report((FIXED,), 1, 1))["results"]
    (change,) = result["fixes"][0]["artifactChanges"]
    assert change["artifactLocation"]["uri"] == "apps/%E5%90%8D.yaml"
    assert change["replacements"] == [
        {
            "deletedRegion": {"startLine": 2, "startColumn": 7, "endLine": 2, "endColumn": 10},
            "insertedContent": {"text": "Pod"},
        }
    ]


def test_a_finding_keeps_its_mark_when_lines_move() -> None:
    moved = FINDING._replace(span=FINDING.span._replace(line=99, end_line=99), document=5)
    marks = [run_of(Report((one,), 1, 1))["results"][0]["partialFingerprints"] for one in (FINDING, moved)]
    assert marks[0] == marks[1]
    twice = run_of(Report((FINDING, moved), 1, 1))["results"]
    assert len({result["partialFingerprints"]["policykit/v1"] for result in twice}) == 2


def test_more_than_github_takes() -> None:
    many = tuple(FINDING._replace(message=str(n)) for n in range(25_000))
    run = run_of(Report((*many, FIXED), 1, 1))
    assert len(run["results"]) == 25_000
    assert {result["ruleId"] for result in run["results"]} == {"PK101"}
    (said,) = run["invocations"][0]["toolExecutionNotifications"]
    assert said["message"]["text"] == "1 findings are left out: a run can have at most 25000"


def test_paths_from_the_root_of_the_repository() -> None:
    inside = FINDING._replace(path="/repo/apps/a b.yaml")
    outside = FINDING._replace(path="/else/a.yaml")
    results = run_of(Report((inside, outside), 1, 1), CONTEXT._replace(root="/repo"))["results"]
    places = [result["locations"][0]["physicalLocation"]["artifactLocation"] for result in results]
    assert places == [{"uri": "apps/a%20b.yaml", "uriBaseId": "SRCROOT"}, {"uri": "/else/a.yaml"}]
