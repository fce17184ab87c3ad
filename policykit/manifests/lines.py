"""Lines of text that could not be read as YAML: indentation, keys, open brackets, other languages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise

from policykit.manifests.node import BREAK
from policykit.namedtuple import NamedTuple

_KEY = re.compile(
    r"""(?P<dashes>(?:-[ ]+)*+)"""
    r"""(?P<key>"[^"]*"|'[^']*'|[^\s#:'"\[\]{},](?:[^:#]*[^:#\s])?)[ ]*:(?:[ ]+(?P<value>.*))?\Z"""
)
"""Looks at no character of a line more than a few times, whatever the line is."""
_COMMENT = re.compile(r"(?:\A|[ \t])#.*\Z")
_BLOCK_SCALAR = re.compile(r"[|>][-+0-9]*\Z")
_CLOSERS = {"[": "]", "{": "}"}


class Line(NamedTuple):
    """A line with content. `number` counts from 0, as does `indent`."""

    number: int
    indent: int
    text: str
    """Without indentation and comment."""
    dashes: str = ""
    """`- ` marks before the key, with the spaces after them."""
    key: str = ""
    """Empty: the line is no `key:` or `key: value`."""
    value: str = ""

    @property
    def key_column(self) -> int:
        return self.indent + len(self.dashes)


class Opening(NamedTuple):
    """A quote or bracket that nothing closes. Line and column count from 0."""

    line: int
    column: int
    mark: str

    @property
    def closer(self) -> str:
        return _CLOSERS.get(self.mark, self.mark)


@lru_cache(maxsize=1)  # a file may have many broken documents
def split(text: str) -> list[str]:
    """Lines as libyaml counts them."""
    return BREAK.split(text)


def read(raw: list[str], first: int, end: int) -> Iterator[Line]:
    """Lines with content from `first` to before `end`, without comments and the text of block scalars."""
    deeper_than: int | None = None
    for number in range(first, min(end, len(raw))):
        body = raw[number].lstrip(" ")
        indent = len(raw[number]) - len(body)
        text = _COMMENT.sub("", body).rstrip()
        if not text or (deeper_than is not None and indent > deeper_than):
            continue
        match = _KEY.match(text)
        line = Line(number, indent, text)
        if match:
            line = Line(number, indent, text, match["dashes"], match["key"], match["value"] or "")
        deeper_than = line.key_column if _BLOCK_SCALAR.search(text) else None
        yield line


def is_marker(line: str) -> bool:
    """Whether a document begins with it."""
    return line.startswith("---") and line[3:4] in ("", " ", "\t")


def is_scalar(value: str) -> bool:
    """A value that ends on its line and can have nothing below it."""
    if value[:1] in ('"', "'"):
        return len(value) > 1 and value.endswith(value[0])
    return bool(value) and value[0] not in "[{|>&*!"


def over_indented(lines: list[Line]) -> list[Line]:
    """Keys indented deeper than the `- key: value` right above them, whose siblings they are."""
    return [
        below
        for item, below in pairwise(lines)
        if item.dashes and is_scalar(item.value) and below.key and below.indent > item.key_column
    ]


def unclosed(raw: list[str], first: int, end: int) -> Opening | None:
    """The innermost quote or bracket left open from `first` to before `end`."""
    brackets: list[Opening] = []
    quote: Opening | None = None
    plain = {line.number for line in read(raw, first, end)}
    for number in range(first, min(end, len(raw))):
        if quote is not None or number in plain:
            quote = _follow(raw[number], number, quote, brackets)
    return quote or (brackets[-1] if brackets else None)


def _follow(line: str, number: int, quote: Opening | None, brackets: list[Opening]) -> Opening | None:
    """The quote open at the end of a line; `brackets` is kept up to date."""
    escaped = False
    last = ""
    for column, character in enumerate(line):
        if quote:
            if escaped:
                escaped = False
            elif character == "\\" and quote.mark == '"':
                escaped = True
            elif character == quote.mark:
                quote = None
        elif character in "\"'" and _begins_value(last, bool(brackets)):
            quote = Opening(number, column, character)
        elif character == "#" and (column == 0 or line[column - 1] in " \t"):
            return None
        elif character in _CLOSERS and _begins_value(last, bool(brackets)):
            brackets.append(Opening(number, column, character))
        elif brackets and character == brackets[-1].closer:
            brackets.pop()
        if not character.isspace():
            last = character
    return quote


def _begins_value(last: str, in_flow: bool) -> bool:
    """Whether a value may begin behind the last character of a line that is no blank."""
    return last in ("", ":", "-", "?") or (in_flow and last in ",[{")


_LEFT_OUT = re.compile(r"\A(?:- +)?(?:\.{3,}|…+|<(?:\.{3,}|…+)>)\Z")
_HERE_DOCUMENT = re.compile(r"<<-?\s*(['\"]?)(?P<end>\w+)\1")
_SLASHES = re.compile(r"(?:\A(?=//)|(?::|[\"']) +(?=// ))(?P<comment>.*)\Z")
_COLON = re.compile(r"\A(?:- +)?[^\s:#\"'：]+：")
_BLANKS = {"\xa0": "a no-break space (U+00A0)", "\u3000": "a full-width space (U+3000)"}
"""Characters that look like the space that YAML requires."""


class NonYaml(NamedTuple):
    """Text that is not YAML. Columns count from 0; the message and the advice are those of a finding."""

    column: int
    width: int
    message: str
    help: str


def non_yaml(line: str) -> NonYaml | None:
    """Text in this line that YAML never contains; None: there is none."""
    text = line.strip()
    column = len(line) - len(line.lstrip())
    return _look_alike(line) or _left_out(text, column) or _comment(text, column) or _shell(text, column)


def _look_alike(line: str) -> NonYaml | None:
    """A blank in the indentation, or a colon after a key, that only looks like YAML's."""
    leading = line[: len(line) - len(line.lstrip(" -\t\xa0\u3000"))]
    at = min((leading.index(blank) for blank in _BLANKS if blank in leading), default=-1)
    if at >= 0:
        words = f"{_BLANKS[line[at]]} is used for indentation; YAML allows only spaces there"
        return NonYaml(at, 1, words, "replace it by a space")
    text = line.strip()
    if _COLON.match(text):
        at = line.index("：")
        return NonYaml(
            at, 1, "a full-width colon (U+FF1A) is used where YAML needs `:`", "write `: ` instead"
        )
    return None


def _left_out(text: str, column: int) -> NonYaml | None:
    if not _LEFT_OUT.match(text):
        return None
    words = f"`{text}` marks omitted text, which YAML cannot express"
    return NonYaml(column, len(text), words, "write what belongs there, or make it a comment with #")


def _comment(text: str, column: int) -> NonYaml | None:
    """A comment of another language: alone on its line, or after a key or a quoted value."""
    found = _SLASHES.search(text)
    if found is None:
        return None
    at = found.start("comment")
    return NonYaml(
        column + at, len(text) - at, "`//` does not begin a comment in YAML", "comments begin with #"
    )


def _shell(text: str, column: int) -> NonYaml | None:
    found = _HERE_DOCUMENT.search(text)
    if found is None or not text.startswith(("cat ", "kubectl ", "tee ", "sudo ", "$ ")):
        return None
    advice = f"keep only what is between it and {found['end']}"
    return NonYaml(column, len(text), "this is a shell command, not YAML", advice)
