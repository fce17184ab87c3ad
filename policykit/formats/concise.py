"""Findings as one line each, for editors and long lists."""

from __future__ import annotations

from policykit.formats import Around
from policykit.formats.text import heading
from policykit.linter.finding import Report


def concise(report: Report, around: Around) -> str:
    """`path:line:col: CODE message [name]`, nothing else."""
    return "".join(heading(finding, around.colour) + "\n" for finding in report.findings)
