"""Findings for people and editors: `path:line:col: CODE message [name]`, then help."""

from __future__ import annotations

from policykit.linter.finding import Report


def text(report: Report) -> str:
    """One line per finding, its help indented below; empty where nothing was found."""
    lines: list[str] = []
    for finding in report.findings:
        place = f"{finding.path}:{finding.span.line}:{finding.span.column}"
        lines.append(f"{place}: {finding.code} {finding.message} [{finding.name}]")
        lines.extend(
            f"    {'help: ' if not n else '      '}{line}" for n, line in enumerate(_help(finding.help))
        )
    return "".join(printable(line) + "\n" for line in lines)


def printable(line: str) -> str:
    """Other characters escaped: a value of a manifest neither breaks a line nor colours a terminal."""
    if line.isprintable():
        return line
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in line)


def summary(report: Report) -> str:
    """One line about the whole run, for stderr."""
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
    """Findings by severity, the gravest first."""
    totals = {"error": 0, "warning": 0, "info": 0}
    for finding in report.findings:
        totals[finding.severity.value] += 1
    return totals


def _help(text: str) -> list[str]:
    return text.split("\n") if text else []
