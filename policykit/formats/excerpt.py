"""The source line of a finding, with marks under the reported part."""

from __future__ import annotations

import unicodedata

from policykit.escape import in_place
from policykit.formats.places import Files
from policykit.linter.finding import Finding

_WIDTH = 100
"""Most columns of a line to show; a longer one is cut around the marks."""
_BEFORE = 30
"""Columns kept before the marks if a line is cut."""
_CUT = "..."


def excerpt(finding: Finding, files: Files) -> tuple[str, str, str] | None:
    """Line number, line and marks, in terminal columns; None if the line is blank."""
    span = finding.span
    line = in_place(files.line(finding.path, span.line))
    if not line.strip():
        return None
    start = min(span.column - 1, len(line))
    end = span.end_column - 1 if span.end_line == span.line else len(line)
    end = max(start + 1, min(end, len(line.rstrip())))
    if len(line) > _WIDTH:
        line, start, end = _window(line, start, end)
    marks = " " * _columns(line[:start]) + "^" * max(1, _columns(line[start:end]))
    return str(span.line), line.rstrip(), marks


def _window(line: str, start: int, end: int) -> tuple[str, int, int]:
    begin = max(0, start - _BEFORE)
    shown = line[begin : begin + _WIDTH]
    head, tail = _CUT if begin else "", _CUT if begin + _WIDTH < len(line) else ""
    shift = len(head) - begin
    return head + shown + tail, start + shift, min(end + shift, len(head) + len(shown))


def _columns(text: str) -> int:
    """Width in terminal columns: Chinese characters take two, combining marks none."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text
    )
