"""Why text is not YAML: the likely cause of the parser's message, in plain words."""

from __future__ import annotations

from collections.abc import Callable

from policykit.manifests.lines import (
    Line,
    is_marker,
    is_scalar,
    non_yaml,
    over_indented,
    read,
    split,
    unclosed,
)
from policykit.manifests.node import Span
from policykit.manifests.parser import Problem
from policykit.namedtuple import NamedTuple


class Cause(NamedTuple):
    """The place to look at, what is wrong there, and what to do."""

    span: Span
    message: str
    help: str = ""


def explain(text: str, problem: Problem, start_line: int = 0) -> Cause:
    """The likely cause of a problem that ended the document of `text` beginning at `start_line`."""
    source = _Source(text, problem, start_line)
    if found := _merge_conflict(source) or _tab(source) or _foreign(source):
        return found
    for fragment, look in _EXPLANATIONS:
        if fragment in problem.message and (found := look(source)):
            return found
    return _cause(source, problem.line, problem.column, f"not valid YAML: {problem.message}")


_WINDOW = 10_000
"""Lines looked at on either side of the problem: causes are near, and files may be huge."""


class _Source:
    """The text around a problem. Lines and columns count from 0."""

    def __init__(self, text: str, problem: Problem, start_line: int) -> None:
        self.message = problem.message
        self.number = problem.line
        self.column = problem.column
        self.first = max(start_line, problem.line - _WINDOW)
        self.raw = split(text)
        self.lines = list(read(self.raw, self.first, self.end))

    @property
    def end(self) -> int:
        """The line after the document, as far as a broken one has an end."""
        last = min(len(self.raw), self.number + _WINDOW)
        return next((n for n in range(self.number + 1, last) if is_marker(self.raw[n])), last)

    @property
    def raw_line(self) -> str:
        return self.raw[self.number] if self.number < len(self.raw) else ""

    @property
    def character(self) -> str:
        return self.raw_line[self.column : self.column + 1]

    @property
    def line(self) -> Line | None:
        return next((line for line in self.lines if line.number == self.number), None)

    @property
    def before(self) -> Line | None:
        """The last line with content above the problem."""
        return next((line for line in reversed(self.lines) if line.number < self.number), None)

    @property
    def at_line_start(self) -> bool:
        return not self.raw_line[: self.column].strip()


def _cause(
    source: _Source, number: int, column: int, message: str, advice: str = "", width: int = 0
) -> Cause:
    if number >= len(source.raw):  # libyaml ends every text with a line break
        number, column = len(source.raw) - 1, len(source.raw[-1])
    line = source.raw[number]
    end = column + width if width else max(len(line.rstrip()), column + 1)
    return Cause(Span(number + 1, column + 1, number + 1, end + 1), message, advice)


def _at(source: _Source, message: str, advice: str = "") -> Cause:
    return _cause(source, source.number, source.column, message, advice, 1)


def _whole(source: _Source, line: Line, message: str, advice: str = "") -> Cause:
    return _cause(source, line.number, line.indent, message, advice, len(line.text))


def _merge_conflict(source: _Source) -> Cause | None:
    for number in range(source.first, min(source.number + 2, len(source.raw))):
        line = source.raw[number]
        if line.startswith(("<<<<<<< ", ">>>>>>> ")) or line == "=======":
            advice = "choose one side and delete the lines <<<<<<<, ======= and >>>>>>>"
            return _cause(source, number, 0, "a merge conflict was left in the file", advice)
    return None


def _tab(source: _Source) -> Cause | None:
    line = source.raw_line
    column = line.find("\t")
    if column < 0 or ("tab" not in source.message and column > source.column):
        return None
    if not line[:column].strip(" -"):
        words = "a tab is used for indentation; YAML allows only spaces there"
        return _cause(source, source.number, column, words, "replace the tab by spaces", 1)
    return None


def _foreign(source: _Source) -> Cause | None:
    """What no YAML has, in the line of the problem or the one before it."""
    before = source.before
    for number in (source.number, before.number if before else source.number):
        found = non_yaml(source.raw[number]) if number < len(source.raw) else None
        if found:
            return _cause(source, number, found.column, found.message, found.help, found.width)
    return None


def _mapping_value(source: _Source) -> Cause | None:
    line, before = source.line, source.before
    if line is None:
        return None
    if (spaceless := _without_space(before)) and before:
        return _whole(source, before, spaceless, _SPACE)
    if before and line.indent > before.key_column and before.key and is_scalar(before.value):
        return _deeper(source, before, line)
    if line.key and ": " in source.raw_line[line.key_column : source.column + 1].rstrip(":") + " ":
        words = f'the value of `{_first_key(line)}` contains ": ", which begins another mapping'
        if source.column + 1 == len(source.raw_line.rstrip()):
            words = f'the value of `{_first_key(line)}` ends with ":", which begins another mapping'
        return _at(source, words, "put the whole value in quotes")
    if before and not before.key and not before.text.startswith("-"):
        words = f'"{_short(before.text)}" has no `:`, so no key can follow it'
        return _whole(source, before, words, "write it as `key: value`")
    return None


def _deeper(source: _Source, above: Line, line: Line) -> Cause:
    words = f"`{_first_key(line)}` is indented deeper than `{above.key}` above it, which has a value already"
    suspects = over_indented(source.lines)
    if above.dashes and len(suspects) > 1:
        numbers = ", ".join(str(below.number + 1) for below in suspects)
        advice = (
            "keys of one list item begin in the column of its first key; "
            f"the blocks that begin at lines {numbers} are indented too deep"
        )
    else:
        advice = f"begin it in column {above.key_column + 1}, the column of `{above.key}`"
    return _whole(source, line, words, advice)


def _first_key(line: Line) -> str:
    return (line.key or line.text).split(": ")[0].rstrip(":")


_SPACE = "write a space after the colon"


def _without_space(line: Line | None) -> str:
    if line is None or line.key or line.text.startswith(('"', "'", "[", "{")):
        return ""
    name, colon, rest = line.text.lstrip("- ").partition(":")
    if colon and rest and " " not in name and not rest.startswith("//"):
        return f"`{name}:` has no space after its colon, so the line is plain text"
    return ""


def _no_colon(source: _Source) -> Cause | None:
    before = source.before
    if before is None:
        return None
    if spaceless := _without_space(before):
        return _whole(source, before, spaceless, _SPACE)
    if before.text.startswith("-") and before.text[1:2] not in ("", " ", "-"):
        words = f'"{_short(before.text)}" has no space after the dash, so it is not a list item'
        return _whole(source, before, words, "write a space after the dash")
    words = f'"{_short(before.text)}" has no `:`, but the lines next to it have keys'
    return _whole(source, before, words, "write it as `key: value`, or indent it as part of the value above")


def _short(text: str) -> str:
    return text if len(text) <= 40 else text[:37] + "..."


def _bad_start(source: _Source) -> Cause:
    words = f"a value cannot begin with {source.character}"
    return _at(source, words, "put the value in quotes")


def _open_quote(source: _Source) -> Cause | None:
    left = unclosed(source.raw, source.first, source.end)
    if left is None:
        return None
    return _cause(
        source, left.line, left.column, f"the {left.mark} that opens here is never closed", "close it", 1
    )


def _never_closed(source: _Source) -> Cause | None:
    left = unclosed(source.raw, source.first, source.number + 1)
    if left is None or left != unclosed(source.raw, source.first, source.end):
        return None
    words = f"the {left.mark} that opens here is never closed"
    return _cause(source, left.line, left.column, words, f"close it with {left.closer}", 1)


def _open_bracket(source: _Source) -> Cause:
    if found := _never_closed(source):
        return found
    words = "a comma is missing before this, or a colon in the entry it belongs to"
    return _at(source, words, "separate entries with commas")


def _unexpected(source: _Source) -> Cause | None:
    line = source.line
    if line and source.at_line_start:
        if line.text == "---":
            words = "the --- that begins a document is indented"
            return _whole(source, line, words, "begin the line with it")
        if line.text.startswith("-"):
            if found := _beside_list(source, line):
                return found
            words = "this is a list item, but the next key of the mapping above is expected here"
            return _whole(source, line, words, "indent it below the key it belongs to")
        columns = sorted({above.indent for above in source.lines if above.number < line.number})
        if line.indent not in columns:
            words = f"this line is indented by {_spaces(line.indent)}, which matches no line above it"
            return _whole(source, line, words, "align it with the keys it belongs to")
        return _whole(source, line, "this line does not fit the block it is in", "check its indentation")
    if source.at_line_start and source.raw_line.strip():
        words = "this line is indented less than the first line of the text it belongs to"
        return _at(source, words, "indent every line of the text as deep as its first")
    earlier = source.raw_line[: source.column]
    if source.character == "*" and earlier.split()[-1:] and earlier.split()[-1].startswith("!"):
        return _at(source, "an alias cannot have a tag", "delete the tag, or write the value after it")
    if (closed := earlier[-1:]) in ("}", "]") and source.character not in ("}", "]"):
        opened = "{" if closed == "}" else "["
        words = f"there is text after the {closed}; a value that begins with {opened} ends there"
        return _at(source, words, "replace it if it is a placeholder, or put the whole value in quotes")
    if '"' in earlier or "'" in earlier:
        words = "there is text after the closing quote"
        return _at(source, words, "put the whole value in quotes; inside single quotes write '' for '")
    return _at(source, f"unexpected {source.character or 'end'}", "close what was opened, once")


def _no_dash(source: _Source) -> Cause | None:
    line = source.line
    if line is None:
        return None
    if line.text.startswith("-") and (found := _beside_list(source, line)):
        return found
    words = f"`{_first_key(line)}` is in a list but has no `- ` before it"
    return _whole(
        source, line, words, "indent it under the list item above, or as deep as the list's own key"
    )


def _beside_list(source: _Source, line: Line) -> Cause | None:
    """A list item one column beside the item above it."""
    items = (above for above in reversed(source.lines) if above.text.startswith("-"))
    above = next((item for item in items if item.number < line.number), None)
    if above is None or abs(above.indent - line.indent) != 1:
        return None
    words = (
        f"this list item is indented by {_spaces(line.indent)}, the one on line {above.number + 1} "
        f"by {_spaces(above.indent)}"
    )
    return _whole(source, line, words, f"indent it by {_spaces(above.indent)}")


def _spaces(number: int) -> str:
    return f"{number} space{'' if number == 1 else 's'}"


def _alias_name(source: _Source) -> Cause:
    words = "* begins an alias and & an anchor, and a name is missing after it"
    return _at(source, words, "put the value in quotes if it is text")


def _collection_key(source: _Source) -> Cause:
    if source.raw_line[: source.column + 1].replace(" ", "").endswith("{{"):
        return _at(source, "{{ begins two mappings, not text", "put the value in quotes")
    return _at(source, source.message, "put the key in quotes if it is text")


def _as_parsed(advice: str) -> Callable[[_Source], Cause]:
    """The parser's message as it is."""
    return lambda source: _at(source, source.message, advice)


def _fixed(message: str, advice: str) -> Callable[[_Source], Cause]:
    return lambda source: _at(source, message, advice)


_EXPLANATIONS: tuple[tuple[str, Callable[[_Source], Cause | None]], ...] = (
    ("mapping values are not allowed", _mapping_value),
    ("could not find expected ':'", _no_colon),
    ("cannot start any token", _bad_start),
    ("unexpected end of stream", _open_quote),
    ("unexpected document indicator", _open_quote),
    ("did not find expected ',' or", _open_bracket),
    ("did not find expected key", _unexpected),
    ("did not find expected '-' indicator", _no_dash),
    ("alphabetic or numeric character", _alias_name),
    ("not a collection", _collection_key),
    (
        "control character",
        _as_parsed("delete it: YAML allows no control characters but tab and line breaks"),
    ),
    ("is not UTF-8", _as_parsed("save the file as UTF-8")),
    ("keys, values and items", _as_parsed("split it into several documents or files")),
    (
        "levels deep",
        _as_parsed("no Kubernetes object is that deep: look for brackets that are never closed"),
    ),
    ("aliases repeat", _as_parsed("write out what is needed: Kubernetes refuses such documents")),
    (
        "has no anchor",
        _as_parsed("define the anchor with & above it, or put the value in quotes if it is text"),
    ),
    ("contains itself", _as_parsed("an alias cannot be inside its own anchor")),
    ("a merge key", _as_parsed("give it an alias of a mapping")),
    (
        "unknown escape character",
        _fixed("in double quotes a backslash begins an escape, and this one is unknown", "use single quotes"),
    ),
    (
        "expected comment or line break",
        _fixed("there is text after the | or > that begins a block", "begin the text on the next line"),
    ),
    (
        "block sequence entries are not allowed",
        _fixed("a list cannot begin on the line of its key", "begin the list on the next line"),
    ),
    ("expected node content", _never_closed),
    ("expected node content", _fixed("a value is missing here", "write the value, or quote this text")),
    (
        "expected <document start>",
        _fixed("there is text after the end of the document", "begin a new document with ---"),
    ),
)
"""Part of the parser's message to the one that finds the cause, tried in order."""
