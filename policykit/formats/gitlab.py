"""Findings as a GitLab Code Quality report. Source: GitLab's page on code quality report formats."""

from __future__ import annotations

from policykit.escape import dumps
from policykit.formats import Around
from policykit.formats.clusters import grouped
from policykit.formats.fingerprint import fingerprints
from policykit.formats.places import relative
from policykit.linter.finding import Report
from policykit.model.severity import Severity

_SEVERITIES = {Severity.ERROR: "critical", Severity.WARNING: "major", Severity.INFO: "info"}


def gitlab(report: Report, around: Around) -> str:
    """A list with an entry per finding; fingerprints are unique, because GitLab merges equal ones."""
    groups = grouped(report.findings)
    named = [(relative(group.finding.path, around.root), group.finding) for group in groups]
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
