"""Findings as one line each, for editors and long lists."""

from __future__ import annotations

from policykit.escape import one_line
from policykit.formats import Around
from policykit.formats.clusters import Group, grouped
from policykit.formats.text import heading
from policykit.linter.finding import Report


def concise(report: Report, around: Around) -> str:
    """`path:line:col: CODE message [name]`, a line for each place and rule."""
    return "".join(_line(group, around) + "\n" for group in grouped(report.findings))


def _line(group: Group, around: Around) -> str:
    """Where clusters disagree, what each of them has follows."""
    differences = one_line("; ".join(group.lines()))
    return heading(group.finding, around.colour) + (f" ({differences})" if differences else "")
