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
    line = files.line(finding.path, span.line)
    start = min(span.column - 1, len(line))
    end = span.end_column - 1 if span.end_line == span.line else len(line)
    # Cut first: many findings may stand on one very long line.
    begin = max(0, start - _BEFORE) if len(line) > _WIDTH else 0
    shown = in_place(line[begin : begin + _WIDTH]).rstrip()
    if not shown:
        return None
    head, tail = _CUT if begin else "", _CUT if begin + _WIDTH < len(line) else ""
    line, shift = head + shown, len(head) - begin
    start, end = start + shift, max(start + shift + 1, min(end + shift, len(line)))
    marks = " " * _columns(line[:start]) + "^" * max(1, _columns(line[start:end]))
    return str(span.line), line + tail, marks


def _columns(text: str) -> int:
    """Width in terminal columns: Chinese characters take two, combining marks none."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text
    )
