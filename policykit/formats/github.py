"""Findings as GitHub Actions workflow commands, which show them as annotations.

Source: GitHub's page on workflow commands; limits of annotations as actions/toolkit issue 734 has them.
"""

from __future__ import annotations

from collections import Counter

from policykit.escape import markdown, one_line
from policykit.formats import FormatContext
from policykit.formats.findings import Group, counted, grouped, message_lines, relative, tally
from policykit.linter.finding import Report
from policykit.model.severity import Severity

_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}
_SHOWN = 10
"""Most annotations of a severity that a step shows; GitHub silently drops the rest."""
_ROWS = 200
"""Most rows of the summary."""


def github(report: Report, context: FormatContext) -> str:
    """A command per finding, most severe first, and one with the number of those not shown."""
    ordered = grouped(sorted(report.findings, key=lambda f: f.severity.rank), context.clusters)
    lines = [_command(group, context) for group in ordered]
    amounts = Counter(group.finding.severity for group in ordered)
    hidden = sum(max(0, amount - _SHOWN) for amount in amounts.values())
    if hidden:
        more = f"{counted(hidden, 'finding')} more than GitHub shows as annotations: the log has all of them"
        lines.append(f"::notice title=policykit::{more}")
    return "".join(f"{line}\n" for line in lines)


def step_summary(report: Report, context: FormatContext) -> str:
    """The findings as a Markdown table, for the file that GITHUB_STEP_SUMMARY names."""
    totals = ", ".join(counted(n, severity) for severity, n in tally(report).items() if n)
    lines = ["### policykit", "", totals or "no findings", ""]
    if report.findings:
        lines += ["| | rule | location | message |", "| --- | --- | --- | --- |"]
    ordered = grouped(sorted(report.findings, key=lambda f: f.severity.rank), context.clusters)
    for group in ordered[:_ROWS]:
        finding = group.finding
        location = f"{relative(finding.path, context.root)}:{finding.span.line}"
        message = "; ".join([finding.message, *group.lines()])
        cells = (finding.severity.value, f"{finding.code} {finding.name}", location, message)
        lines.append("| " + " | ".join(_cell(cell) for cell in cells) + " |")
    if len(ordered) > _ROWS:
        lines += ["", f"and {len(ordered) - _ROWS} more"]
    return "\n".join(lines) + "\n"


def _command(group: Group, context: FormatContext) -> str:
    """A workflow command with all supported properties."""
    finding = group.finding
    span = finding.span
    places = {"file": relative(finding.path, context.root), "line": span.line, "endLine": span.end_line}
    if span.line == span.end_line:
        places |= {"col": span.column, "endColumn": span.end_column}
    places["title"] = f"{finding.code} {finding.name}"
    properties = ",".join(f"{name}={_property(str(value))}" for name, value in places.items())
    message = "%0A".join(map(_data, [*message_lines(finding), *group.lines()]))
    return f"::{_COMMANDS[finding.severity]} {properties}::{message}"


def _data(text: str) -> str:
    return one_line(_encoded(text))


def _property(text: str) -> str:
    return one_line(_encoded(text).replace(":", "%3A").replace(",", "%2C"))


def _encoded(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _cell(text: str) -> str:
    return markdown(" ".join(text.split()))
