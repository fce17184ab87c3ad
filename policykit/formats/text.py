"""Findings as text: with their source lines, or one line each; a summary; statistics."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from policykit.escape import in_place, one_line
from policykit.formats import FormatContext
from policykit.formats.findings import Group, SourceFiles, counted, groups_of, message_lines, tally
from policykit.linter.finding import Finding, Report
from policykit.model.severity import Severity

_NOTHING = "no findings"
_BOLD, _DIM = "1", "2"
_COLOURS = {Severity.ERROR: "1;31", Severity.WARNING: "1;33", Severity.INFO: "1;36"}
"""Terminal colours, which never carry information that the text lacks."""
_WIDTH = 100
"""Most columns of a source line to show; a longer one is cut around the marks."""
_BEFORE = 30
"""Columns kept before the marks if a line is cut."""
_CUT = "..."


def text(report: Report, context: FormatContext) -> str:
    """Each finding with its source line and help; empty if there are none."""
    return "".join(text_parts(report, context))


def text_parts(report: Report, context: FormatContext) -> Iterator[str]:
    """The same, finding by finding."""
    files = SourceFiles(context.raw)
    for group in groups_of(report.findings, context.clusters):
        lines = [_heading(group.finding, context)]
        lines += _excerpt(group.finding, files, context)
        lines += _help(group.finding)
        lines += [one_line(f"    {line}") for line in group.lines()]
        yield "\n".join([*lines, ""])


def concise(report: Report, context: FormatContext) -> str:
    """`path:line:col: CODE severity: message [name]`, a line for each location and rule."""
    return "".join(concise_parts(report, context))


def concise_parts(report: Report, context: FormatContext) -> Iterator[str]:
    """The same, line by line."""
    for group in groups_of(report.findings, context.clusters):
        yield _concise_line(group, context) + "\n"


def _concise_line(group: Group, context: FormatContext) -> str:
    """The finding, followed by what differs between clusters."""
    differences = one_line("; ".join(group.lines()))
    return _heading(group.finding, context) + (f" ({differences})" if differences else "")


def summary(report: Report, *, failed: bool = False) -> str:
    """A one-line summary of the run, for stderr; `failed`: not everything could be linted."""
    found = _totals(report) or ("failed: nothing was found in what could be judged" if failed else _NOTHING)
    read = f"{counted(report.documents, 'object')} in {counted(report.files, 'file')}"
    tail = f", {len(report.skipped)} skipped" if report.skipped else ""
    tail += f", {len(report.not_judged)} not judged" if report.not_judged else ""
    tail += f", {report.suppressed} suppressed" if report.suppressed else ""
    tail += f", {report.baselined} in the baseline" if report.baselined else ""
    tail += f", {report.unchanged} not new" if report.unchanged else ""
    return f"{found} ({read}{tail})"


def live_summary(report: Report) -> str:
    """The beginning of a summary of a run over a cluster."""
    suppressed = f", {report.suppressed} suppressed" if report.suppressed else ""
    return f"{_totals(report) or _NOTHING} ({counted(report.documents, 'object')}{suppressed})"


def _totals(report: Report) -> str:
    """Findings by severity; empty: there are none."""
    parts = [counted(n, severity) for severity, n in tally(report).items() if n]
    return ", ".join(parts)


def statistics(report: Report) -> list[str]:
    """A line per rule with findings, most frequent first."""
    amounts = Counter((finding.code, finding.name) for finding in report.findings)
    width = max((len(str(amount)) for amount in amounts.values()), default=0)
    ordered = sorted(amounts.items(), key=lambda item: (-item[1], item[0]))
    return [f"{amount:>{width}}  {code}  {name}" for (code, name), amount in ordered]


def timings(report: Report) -> list[str]:
    """A line per rule, slowest first, and their sum; in milliseconds over all processes."""
    ordered = sorted(report.times, key=lambda item: (-item[1], item[0]))
    whole = sum(seconds for _, seconds in ordered)
    lines = [f"{seconds * 1000:>10.1f} ms  {code}" for code, seconds in ordered]
    return [*lines, f"{whole * 1000:>10.1f} ms  all rules"]


def use_colour(choice: str, environment: Mapping[str, str], terminal: bool) -> bool:
    """Whether to colour: the option decides, then FORCE_COLOR, NO_COLOR and TERM, then the terminal.

    Sources: no-color.org, force-color.org.
    """
    if choice != "auto":
        return choice == "always"
    if environment.get("FORCE_COLOR"):
        return True
    if environment.get("NO_COLOR") or environment.get("TERM") == "dumb":
        return False
    return terminal


def _heading(finding: Finding, context: FormatContext) -> str:
    """`path:line:col: CODE severity: message [name]`, escaped to one line."""
    position = "" if context.live else f":{finding.span.line}:{finding.span.column}"
    location, code = one_line(f"{finding.path}{position}"), f"{finding.code} {finding.severity}:"
    message, name = one_line(finding.message), f"[{finding.name}]"
    if context.colour:
        code = _paint(code, _COLOURS[finding.severity])
        location, name = _paint(location, _BOLD), _paint(name, _DIM)
    return f"{location}: {code} {message} {name}"


def _help(finding: Finding) -> list[str]:
    """The template that the document was rendered from, and the help, indented."""
    _, *lines = message_lines(finding)
    source = [one_line(f"    rendered from: {finding.source}")] if finding.source else []
    return source + [one_line(f"    {'      ' if n else 'help: '}{line}") for n, line in enumerate(lines)]


def _excerpt(finding: Finding, files: SourceFiles, context: FormatContext) -> list[str]:
    shown = excerpt(finding, files)
    if shown is None:
        return []
    number, line, marks = shown
    if context.live:
        number = one_line(finding.field or finding.pointer)
        if not number:
            return []
    below, bar = " " * len(number), "|"
    if context.colour:
        number, bar = _paint(number, _DIM), _paint(bar, _DIM)
        marks = _paint(marks, _COLOURS[finding.severity])
    return [f"    {number} {bar} {line}", f"    {below} {bar} {marks}"]


def excerpt(finding: Finding, files: SourceFiles) -> tuple[str, str, str] | None:
    """Line number, line and marks, in terminal columns; None if the line is blank."""
    span = finding.span
    line = files.line(finding.path, span.line)
    start = min(span.column - 1, len(line))
    end = span.end_column - 1 if span.end_line == span.line else len(line)
    # Cut first: one very long line may have many findings.
    begin = max(0, start - _BEFORE) if len(line) > _WIDTH else 0
    shown = in_place(line[begin : begin + _WIDTH]).rstrip()
    if not shown:
        return None
    head, tail = _CUT if begin else "", _CUT if begin + _WIDTH < len(line) else ""
    line, shift = head + shown, len(head) - begin
    start, end = start + shift, max(start + shift + 1, min(end + shift, len(line)))
    if line.isascii():
        marks = " " * start + "^" * max(1, end - start)
    else:
        marks = " " * _columns(line[:start]) + "^" * max(1, _columns(line[start:end]))
    return str(span.line), line + tail, marks


def _columns(text: str) -> int:
    """Width in terminal columns: Chinese characters take two, combining marks none."""
    if text.isascii():
        return len(text)  # nearly always
    import unicodedata

    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text
    )


def _paint(text: str, code: str) -> str:
    """The text in a colour."""
    return f"\x1b[{code}m{text}\x1b[0m"
