"""Findings as reviewdog's rdjson; fixes become suggestions in a review.

Source: reviewdog's `proto/rdf` (columns are bytes there, counted from 1).
"""

from __future__ import annotations

from typing import Any

from policykit.escape import dumps
from policykit.formats import FormatContext
from policykit.formats.findings import Group, SourceFiles, grouped, relative
from policykit.linter.finding import Finding, Report
from policykit.model.severity import Severity

_SEVERITIES = {Severity.ERROR: "ERROR", Severity.WARNING: "WARNING", Severity.INFO: "INFO"}


def rdjson(report: Report, context: FormatContext) -> str:
    """One DiagnosticResult."""
    files = SourceFiles(context.raw)
    data = {
        "source": {"name": "policykit"},
        "diagnostics": [
            _diagnostic(group, context.root, files) for group in grouped(report.findings, context.clusters)
        ],
    }
    return dumps(data) + "\n"


def _diagnostic(group: Group, root: str, files: SourceFiles) -> dict[str, Any]:
    finding = group.finding
    span = finding.span
    message = f"{finding.message} [{finding.name}]" + (f"\n{finding.help}" if finding.help else "")
    message = "\n".join([message, *group.lines()])
    found: dict[str, Any] = {
        "message": message,
        "location": {
            "path": relative(finding.path, root),
            "range": {
                "start": _position(finding.path, span.line, span.column, files),
                "end": _position(finding.path, span.end_line, span.end_column, files),
            },
        },
        "severity": _SEVERITIES[finding.severity],
        "code": {"value": finding.code},
    }
    if finding.fix and finding.fix.edits:
        found["suggestions"] = [_suggestion(finding, edit, files) for edit in finding.fix.edits]
    return found


def _suggestion(finding: Finding, edit: Any, files: SourceFiles) -> dict[str, Any]:
    start, end = (files.line_and_column(finding.path, at) for at in (edit.start, edit.end))
    return {
        "range": {
            "start": _position(finding.path, *start, files),
            "end": _position(finding.path, *end, files),
        },
        "text": edit.text,
    }


def _position(path: str, line: int, column: int, files: SourceFiles) -> dict[str, int]:
    before = files.line(path, line)[: column - 1]
    return {"line": line, "column": column + len(before.encode("utf-8", errors="replace")) - len(before)}
