"""Findings as JSON Lines: one object per line, as in the json format."""

from __future__ import annotations

from policykit.escape import dumps
from policykit.formats import Around
from policykit.formats.json import as_data
from policykit.linter.finding import Report


def jsonl(report: Report, around: Around) -> str:
    """A line per finding; empty if there are none."""
    return "".join(dumps(as_data(finding), indent=None) + "\n" for finding in report.findings)
