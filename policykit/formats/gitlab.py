"""Findings as a GitLab Code Quality report. Source: GitLab's page on code quality report formats."""

from __future__ import annotations

from policykit.escape import dumps
from policykit.formats import FormatContext
from policykit.formats.findings import fingerprints, grouped, relative
from policykit.linter.finding import Report
from policykit.model.severity import Severity

_SEVERITIES = {Severity.ERROR: "critical", Severity.WARNING: "major", Severity.INFO: "info"}


def gitlab(report: Report, context: FormatContext) -> str:
    """A list with an entry per finding; fingerprints are unique, because GitLab merges equal ones."""
    groups = grouped(report.findings, context.clusters)
    named = [(relative(group.finding.path, context.root), group.finding) for group in groups]
    entries = [
        {
            "description": "; ".join([f"{finding.code} {finding.message}", *group.lines()]),
            "check_name": finding.name,
            "fingerprint": mark,
            "severity": _SEVERITIES[finding.severity],
            "location": {"path": path.removeprefix("./"), "lines": {"begin": finding.span.line}},
        }
        for group, (path, finding), mark in zip(groups, named, fingerprints(named), strict=True)
    ]
    return dumps(entries) + "\n"
