"""YAML text to documents whose nodes know their location."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import islice

from policykit.manifests import block_reader, compiled_reader
from policykit.manifests.node import Lines
from policykit.manifests.parsed_document import MAX_DEPTH, ParsedDocument, Problem, UnreadError

__all__ = ["MAX_DEPTH", "ParsedDocument", "Problem", "parse"]

_MARKED_START = "(?m)^(---(?:[ \\t].*?)?)(\\r?\\n)\ufeff"
_PAIR = r"\\u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})"


def parse(text: str) -> Iterator[ParsedDocument]:
    """Documents of a stream, lazily. After a syntax error reading goes on at the next `---`."""
    text = as_yaml(text)
    lines = Lines(text)
    read = 0
    try:
        for parsed in _reader()(text, lines):
            yield parsed
            read += 1
    except UnreadError:
        # Imported where it is needed: it imports PyYAML.
        from policykit.manifests.event_reader import documents

        yield from islice(documents(text, lines), read, None)


def parse_part(text: str, start: int, end: int, lines: Lines) -> Iterator[ParsedDocument]:
    """Documents of the part of a text between two offsets, at their places in the text, whose lines these
    are. Raises UnreadError for some of those that have a problem."""
    if compiled_reader.available():
        return compiled_reader.documents(text[start:end], lines, start)
    from policykit.manifests.event_reader import documents_of_part

    return documents_of_part(text, start, end, lines)


def _reader() -> Callable[[str, Lines], Iterator[ParsedDocument]]:
    """The reader to try first. Raises UnreadError for what is left to the reader of events."""
    if compiled_reader.available():
        return compiled_reader.documents
    return block_reader.documents


def as_yaml(text: str) -> str:
    """The text without what JSON and files have and libyaml does not read."""
    text = text.removeprefix("\ufeff")  # libyaml does not count it
    if "\ufeff" in text:
        # kubectl reads each document by itself, and a mark may begin it. What follows keeps its place.
        text = re.sub(_MARKED_START, r"\1 \2", text)
    if text[:1] in ("{", "[") and "\\ud" in text.lower():
        text = re.sub(_PAIR, _one_escape, text)
    return text


def _one_escape(pair: re.Match[str]) -> str:
    """JSON escapes a character beyond the first plane as two, YAML as one."""
    high, low = (int(half, 16) for half in pair.groups())
    return f"\\U{0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00):08X}"
