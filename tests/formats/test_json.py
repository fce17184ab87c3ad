"""Findings as JSON and JSON Lines: exactly the documented members."""

from __future__ import annotations

import json

import jsonschema
import pytest

from policykit import bundled
from policykit.formats.json import json_text, jsonl
from policykit.linter.finding import Report
from tests.formats.reports import CONTEXT, EMPTY, MIXED, REPORT


def test_a_whole_report() -> None:
    data = json.loads(json_text(REPORT))
    assert list(data) == ["schema_version", "summary", "findings", "not_judged"]
    assert data["schema_version"] == 1
    assert data["summary"] == {
        "files": 3,
        "documents": 4,
        "skipped": 1,
        "suppressed": 1,
        "baselined": 0,
        "not_judged": 0,
        "unchanged": 0,
        "errors": 1,
        "warnings": 0,
        "infos": 1,
    }
    first, second = data["findings"]
    assert first == {
        "code": "PK101",
        "name": "missing-toleration",
        "severity": "error",
        "message": "nothing tolerates a: 1",
        "help": "Add the toleration,\nor another one.",
        "path": "apps/train.yaml",
        "line": 24,
        "column": 9,
        "end_line": 24,
        "end_column": 40,
        "document": 2,
        "resource": {"api_version": "batch/v1", "kind": "Job", "namespace": None, "name": "train"},
        "pointer": "/spec/template",
        "fix": None,
        "url": None,
        "source": None,
        "clusters": [],
    }
    assert second["resource"] is None


@pytest.mark.parametrize("report", [REPORT, EMPTY, MIXED], ids=["usual", "empty", "with a fix"])
def test_valid_by_its_schema(report: Report) -> None:
    jsonschema.validate(json.loads(json_text(report)), bundled.table("schemas", "findings.json"))


def test_text_stays_readable() -> None:
    assert "节点" in json_text(REPORT)


def test_nothing_found() -> None:
    assert json.loads(json_text(EMPTY))["findings"] == []


def test_lines() -> None:
    lines = [json.loads(line) for line in jsonl(MIXED, CONTEXT).splitlines()]
    assert lines == json.loads(json_text(MIXED))["findings"]
    assert jsonl(EMPTY, CONTEXT) == ""
