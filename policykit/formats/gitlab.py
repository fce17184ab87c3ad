"""Findings as a GitLab Code Quality report. Source: GitLab's page on code quality report formats."""

from __future__ import annotations

from policykit.escape import dumps
from policykit.formats import Around
from policykit.formats.fingerprint import fingerprints
from policykit.formats.places import relative
from policykit.linter.finding import Report
from policykit.model.severity import Severity

_SEVERITIES = {Severity.ERROR: "critical", Severity.WARNING: "major", Severity.INFO: "info"}


def gitlab(report: Report, around: Around) -> str:
    """A list with an entry per finding; fingerprints are unique, because GitLab merges equal ones."""
    named = [(relative(finding.path, around.root), finding) for finding in report.findings]
    entries = [
        {
            "description": f"{finding.code} {finding.message}",
            "check_name": finding.name,
            "fingerprint": mark,
            "severity": _SEVERITIES[finding.severity],
            "location": {"path": path.removeprefix("./"), "lines": {"begin": finding.span.line}},
        }
        for (path, finding), mark in zip(named, fingerprints(named), strict=True)
    ]
    return dumps(entries) + "\n"
