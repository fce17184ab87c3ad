"""Findings as SARIF 2.1.0, as GitHub's code scanning reads it.

Sources: OASIS SARIF 2.1.0; GitHub's page on SARIF support (limits, required members).
"""

from __future__ import annotations

import inspect
from typing import Any

from policykit.escape import dumps
from policykit.formats import FormatContext
from policykit.formats.findings import SourceFiles, fingerprints, relative
from policykit.linter.finding import Finding, Report, TextFix
from policykit.linter.rule import AnyRule
from policykit.model.severity import Severity
from policykit.rules import CATALOGUE, rule

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}
_PROBLEMS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "recommendation"}
_MAX_RESULTS = 25_000
"""GitHub rejects a run with more."""
_MAX_TEXT = 1024
_ROOT = "SRCROOT"


def sarif(report: Report, context: FormatContext) -> str:
    """One run. If there are more results than services accept, the most severe are kept, with a note."""
    ordered = report.findings
    left_out = len(ordered) - _MAX_RESULTS
    if left_out > 0:
        kept = sorted(ordered, key=lambda f: f.severity.rank)[:_MAX_RESULTS]
        ordered = tuple(sorted(kept, key=Finding.sort_key))
    codes = sorted({finding.code for finding in ordered})
    position = {code: number for number, code in enumerate(codes)}
    files = SourceFiles(context.raw)
    named = [(relative(finding.path, context.root), finding) for finding in ordered]
    results = [
        _result(finding, path, position[finding.code], mark, files)
        for (path, finding), mark in zip(named, fingerprints(named), strict=True)
    ]
    run: dict[str, Any] = {
        "tool": {
            "driver": {
                "name": "policykit",
                "semanticVersion": context.version,
                "rules": [_rule(rule(entry)) for entry in CATALOGUE if entry.code in position],
            }
        },
        "columnKind": "unicodeCodePoints",
        "results": results,
        "invocations": [{"executionSuccessful": not report.failures, **_notifications(report, left_out)}],
    }
    if context.category:
        # Runs of a matrix, one for each cluster, would replace each other without it.
        run["automationDetails"] = {"id": f"policykit/{context.category}/"}
    if context.root:
        run["originalUriBaseIds"] = {_ROOT: {"description": {"text": "The root of the repository."}}}
    return dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}) + "\n"


def _notifications(report: Report, left_out: int) -> dict[str, Any]:
    messages = [*report.failures]
    if left_out > 0:
        messages.append(f"{left_out} findings are left out: a run can have at most {_MAX_RESULTS}")
    if not messages:
        return {}
    return {
        "toolExecutionNotifications": [
            {"level": "error" if text in report.failures else "warning", "message": {"text": text}}
            for text in messages
        ]
    }


def _rule(known: AnyRule) -> dict[str, Any]:
    page = inspect.cleandoc(known.doc)
    first, _, rest = page.partition("\n")
    example = f"Bad:\n\n```yaml\n{known.bad}```\n\nGood:\n\n```yaml\n{known.good}```\n"
    return {
        "id": known.code,
        "name": known.name,
        "shortDescription": {"text": first[:_MAX_TEXT]},
        "fullDescription": {"text": " ".join(page.split())[:_MAX_TEXT]},
        "help": {"text": page, "markdown": f"**{first}**\n\n{rest.strip()}\n\n{example}"},
        "defaultConfiguration": {"level": _LEVELS[known.severity]},
        "properties": {
            "tags": ["kubernetes", known.code[:3]],
            "precision": "high",
            "problem.severity": _PROBLEMS[known.severity],
        },
    }


def _result(finding: Finding, path: str, index: int, mark: str, files: SourceFiles) -> dict[str, Any]:
    message = finding.message + (f". Help: {finding.help}" if finding.help else "")
    found: dict[str, Any] = {
        "ruleId": finding.code,
        "ruleIndex": index,
        "level": _LEVELS[finding.severity],
        "message": {"text": message},
        "locations": [
            {"physicalLocation": {"artifactLocation": _artifact(path), "region": _region(finding)}}
        ],
        "partialFingerprints": {"policykit/v1": mark},
    }
    if finding.resource:
        name = str(finding.resource)
        logical = {
            "name": finding.resource.name or finding.resource.kind,
            "fullyQualifiedName": name + finding.pointer,
        }
        found["locations"][0]["logicalLocations"] = [{**logical, "kind": "resource"}]
    if finding.clusters:
        found["properties"] = {"clusters": list(finding.clusters)}
    if finding.fix and finding.fix.edits:
        found["fixes"] = [_fix(finding.fix, finding.path, path, files)]
    return found


def _artifact(path: str) -> dict[str, Any]:
    from urllib.parse import quote

    uri = quote(path, safe="/:~-._", errors="backslashreplace")
    return {"uri": uri} if path.startswith("/") else {"uri": uri, "uriBaseId": _ROOT}


def _region(finding: Finding) -> dict[str, int]:
    span = finding.span
    return {
        "startLine": span.line,
        "startColumn": span.column,
        "endLine": span.end_line,
        "endColumn": max(span.end_column, 1),
    }


def _fix(fix: TextFix, reported: str, path: str, files: SourceFiles) -> dict[str, Any]:
    replacements = []
    for edit in fix.edits:
        line, column = files.line_and_column(reported, edit.start)
        end_line, end_column = files.line_and_column(reported, edit.end)
        region = {"startLine": line, "startColumn": column, "endLine": end_line, "endColumn": end_column}
        replacements.append({"deletedRegion": region, "insertedContent": {"text": edit.text}})
    return {
        "description": {"text": f"{fix.description} ({fix.applicability.value})"},
        "artifactChanges": [{"artifactLocation": _artifact(path), "replacements": replacements}],
    }
