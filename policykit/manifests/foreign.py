"""Lines that are no YAML: text left out, comments of other languages, shell, look-alikes."""

from __future__ import annotations

import re
from typing import NamedTuple

_LEFT_OUT = re.compile(r"\A(?:- +)?(?:\.{3,}|…+|<(?:\.{3,}|…+)>)\Z")
_HERE_DOCUMENT = re.compile(r"<<-?\s*(['\"]?)(?P<end>\w+)\1")
_SLASHES = re.compile(r"(?:\A(?=//)|(?::|[\"']) +(?=// ))(?P<comment>.*)\Z")
_COLON = re.compile(r"\A(?:- +)?[^\s:#\"'：]+：")
_BLANKS = {"\xa0": "a no-break space (U+00A0)", "\u3000": "a full-width space (U+3000)"}
"""Characters that look like the space that YAML wants."""


class Foreign(NamedTuple):
    """What is no YAML. Columns count from 0; the message and the advice are those of a finding."""

    column: int
    width: int
    message: str
    help: str


def foreign(line: str) -> Foreign | None:
    """Whether a line of broken text is one that no YAML has."""
    text = line.strip()
    column = len(line) - len(line.lstrip())
    return _look_alike(line) or _left_out(text, column) or _comment(text, column) or _shell(text, column)


def _look_alike(line: str) -> Foreign | None:
    """A blank in the indentation, or a colon after a key, that only looks like YAML's."""
    leading = line[: len(line) - len(line.lstrip(" -\t\xa0\u3000"))]
    at = min((leading.index(blank) for blank in _BLANKS if blank in leading), default=-1)
    if at >= 0:
        words = f"{_BLANKS[line[at]]} is used for indentation; YAML allows only spaces there"
        return Foreign(at, 1, words, "replace it by a space")
    text = line.strip()
    if _COLON.match(text):
        at = line.index("：")
        return Foreign(at, 1, "a full-width colon (U+FF1A) stands where YAML needs `:`", "write `: ` instead")
    return None


def _left_out(text: str, column: int) -> Foreign | None:
    if not _LEFT_OUT.match(text):
        return None
    words = f"`{text}` stands for something left out; YAML has no sign for that"
    return Foreign(column, len(text), words, "write what belongs there, or make it a comment with #")


def _comment(text: str, column: int) -> Foreign | None:
    """A comment of another language: alone on its line, or after a key or a quoted value."""
    found = _SLASHES.search(text)
    if found is None:
        return None
    at = found.start("comment")
    return Foreign(column + at, len(text) - at, "`//` begins no comment in YAML", "comments begin with #")


def _shell(text: str, column: int) -> Foreign | None:
    found = _HERE_DOCUMENT.search(text)
    if found is None or not text.startswith(("cat ", "kubectl ", "tee ", "sudo ", "$ ")):
        return None
    advice = f"keep only what stands between it and {found['end']}"
    return Foreign(column, len(text), "a shell command stands here, which is no YAML", advice)
