"""Findings as text: `path:line:col: CODE message [name]`, the source line, then help."""

from __future__ import annotations

from typing import TYPE_CHECKING

from policykit.escape import one_line
from policykit.formats import Around
from policykit.formats.clusters import grouped
from policykit.formats.colour import BOLD, DIM, OF_SEVERITY, paint
from policykit.linter.finding import Finding, Report

if TYPE_CHECKING:
    from policykit.formats.places import Files


def text(report: Report, around: Around) -> str:
    """Each finding with its source line; empty if there are none."""
    if not report.findings:
        return ""
    from policykit.formats.places import Files

    files = Files(around.raw)
    lines: list[str] = []
    for group in grouped(report.findings):
        lines.append(heading(group.finding, around.colour))
        lines += _excerpt(group.finding, files, around.colour)
        lines += advice(group.finding)
        lines += [one_line(f"    {line}") for line in group.lines()]
    return "".join(line + "\n" for line in lines)


def heading(finding: Finding, colour: bool = False) -> str:
    """`path:line:col: CODE message [name]`, escaped to one line."""
    place = one_line(f"{finding.path}:{finding.span.line}:{finding.span.column}")
    code = paint(finding.code, OF_SEVERITY[finding.severity], colour)
    message = f"{one_line(finding.message)} {paint(f'[{finding.name}]', DIM, colour)}"
    return f"{paint(place, BOLD, colour)}: {code} {message}"


def said(finding: Finding) -> list[str]:
    """The message, then the lines of the help."""
    return [finding.message, *(finding.help.split("\n") if finding.help else ())]


def advice(finding: Finding) -> list[str]:
    """The indented help, and the template that the document was rendered from."""
    _, *lines = said(finding)
    source = [one_line(f"    rendered from: {finding.source}")] if finding.source else []
    return source + [one_line(f"    {'      ' if n else 'help: '}{line}") for n, line in enumerate(lines)]


def _excerpt(finding: Finding, files: Files, colour: bool) -> list[str]:
    from policykit.formats.excerpt import excerpt

    shown = excerpt(finding, files)
    if shown is None:
        return []
    number, line, marks = shown
    bar = paint("|", DIM, colour)
    return [
        f"    {paint(number, DIM, colour)} {bar} {line}",
        f"    {' ' * len(number)} {bar} {paint(marks, OF_SEVERITY[finding.severity], colour)}",
    ]


def summary(report: Report) -> str:
    """A one-line summary of the run, for stderr."""
    totals = tally(report)
    parts = [counted(n, severity) for severity, n in totals.items() if n]
    found = ", ".join(parts) or "no findings"
    read = f"{counted(report.documents, 'object')} in {counted(report.files, 'file')}"
    tail = f", {len(report.skipped)} skipped" if report.skipped else ""
    tail += f", {report.suppressed} suppressed" if report.suppressed else ""
    tail += f", {report.baselined} in the baseline" if report.baselined else ""
    tail += f", {report.unchanged} in unchanged documents" if report.unchanged else ""
    return f"{found} ({read}{tail})"


def counted(amount: int, noun: str) -> str:
    """`1 file`, `2 files`."""
    return f"{amount} {noun if amount == 1 else noun + 's'}"


def tally(report: Report) -> dict[str, int]:
    """Findings by severity, most severe first."""
    totals = {"error": 0, "warning": 0, "info": 0}
    for finding in report.findings:
        totals[finding.severity.value] += 1
    return totals
