"""Findings as one JSON object with stable bytes, or as JSON Lines; schemas/findings.json describes both."""

from __future__ import annotations

from typing import Any

from policykit.escape import dumps
from policykit.formats import FormatContext
from policykit.formats.findings import tally
from policykit.linter.finding import Finding, Report, TextFix

SCHEMA_VERSION = 1


def json_text(report: Report, context: FormatContext | None = None) -> str:
    """The whole report as one JSON object; within a schema version, members are only added."""
    totals = tally(report)
    data = {
        "schema_version": SCHEMA_VERSION,
        "summary": {
            "files": report.files,
            "documents": report.documents,
            "skipped": len(report.skipped),
            "suppressed": report.suppressed,
            "baselined": report.baselined,
            "unchanged": report.unchanged,
            "not_judged": len(report.not_judged),
            "errors": totals["error"],
            "warnings": totals["warning"],
            "infos": totals["info"],
        },
        "findings": [_data(finding) for finding in report.findings],
        "not_judged": [
            {"path": one.path, "reason": one.reason, "detail": one.detail} for one in report.not_judged
        ],
    }
    return dumps(data) + "\n"


def jsonl(report: Report, context: FormatContext) -> str:
    """A line per finding; empty if there are none."""
    return "".join(dumps(_data(finding), indent=None) + "\n" for finding in report.findings)


def _data(finding: Finding) -> dict[str, Any]:
    """A finding as an entry of `findings`."""
    resource = finding.resource
    return {
        "code": finding.code,
        "name": finding.name,
        "severity": finding.severity.value,
        "message": finding.message,
        "help": finding.help,
        "path": finding.path,
        "line": finding.span.line,
        "column": finding.span.column,
        "end_line": finding.span.end_line,
        "end_column": finding.span.end_column,
        "document": finding.document,
        "resource": resource._asdict() if resource else None,
        "pointer": finding.pointer,
        "fix": _fix(finding.fix) if finding.fix else None,
        "url": None,
        "source": finding.source or None,
        "clusters": list(finding.clusters),
    }


def _fix(fix: TextFix) -> dict[str, Any]:
    return {
        "applicability": fix.applicability.value,
        "description": fix.description,
        "edits": [edit._asdict() for edit in fix.edits],
    }
