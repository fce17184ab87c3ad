"""The items of a large `kind: List`, read one after the other: a tree of all takes many times their text."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator
from itertools import pairwise

from policykit.manifests.document import is_list
from policykit.manifests.node import Lines, Node
from policykit.manifests.parsed_document import ParsedDocument, UnreadError
from policykit.manifests.parser import as_yaml, parse, parse_part

_ITEMS = "items"
_MARKER = r"(?m)^(?:---|\.\.\.|%)"
_BLOCK = rf"(?m)^{_ITEMS}:[ ]*\r?\n(?=( *)-[ ])"
_FLOW = rf"""["']?{_ITEMS}["']?\s*:\s*\["""
_TOKEN = r"""(?<=[\s\[{,:])(?:"(?:[^"\\]++|\\.)*+"|'(?:[^']|'')*+')|[\[\]{}]"""
"""What opens or closes a collection; quoted text, where such a character is none."""
_OPEN = frozenset("{[")


def large_list(text: str) -> ParsedDocument | None:
    """The document of a text that is a list: its root has no items, which are read where somebody asks for
    them. None: it is another document, or there are several.

    Asking raises UnreadError in place of an item that cannot be read alone: it has a problem, a key twice, or
    an alias of something outside of it.
    """
    text = as_yaml(text)
    if re.compile(_MARKER).search(text, 3 if text.startswith("---") else 0):
        return None
    in_flow = text.startswith("{")
    key = re.search(_FLOW if in_flow else _BLOCK, text)
    places = (_in_flow if in_flow else _in_block)(text, key) if key else None
    if key is None or not places:
        return None
    found = [*parse(text[: places[0]] + text[places[-1] :])]
    root = found[0].root if len(found) == 1 and not found[0].duplicates else None
    if root is None or type(root.data) is not dict or root.data.get(_ITEMS, _ITEMS) or not is_list(root.data):
        return None
    if root.entries[_ITEMS][0].start_offset != key.start():
        return None
    return found[0]._replace(items=_read(text, places, in_flow))


def _read(text: str, places: array[int], in_flow: bool) -> Iterator[Node]:
    lines = Lines(text)
    for start, end in zip(places[::2], places[1::2], strict=True):
        document, *others = parse_part(text, start, end, lines)
        root = document.root
        if others or root is None or document.problem or document.duplicates:
            raise UnreadError
        yield root if in_flow else root.entries[0]


def _in_block(text: str, key: re.Match[str]) -> array[int]:
    """Where each item of a block sequence begins and ends: no line of it is indented less than its dash.

    Text in quotes or brackets may be, but nobody can read a part in which it does not end.
    """
    column = len(key[1])
    other = rf"(?m)^ {{0,{column}}}(?![ \n\r#]|(?<=^ {{{column}}})-[ \n\r])"
    behind = re.compile(other).search(text, key.end())
    end = behind.start() if behind else len(text)
    dashes = re.compile(rf"(?m)^ {{{column}}}-[ \n\r]").finditer(text, key.end(), end)
    starts = [*(dash.start() for dash in dashes), end]
    return array("I", (at for place in pairwise(starts) for at in place))


def _in_flow(text: str, key: re.Match[str]) -> array[int]:
    """Where each item of a flow sequence, such as a list in JSON, begins and ends; empty: some item is a
    scalar, or has a comment before it."""
    found = array("I")
    depth = 0
    for token in re.compile(_TOKEN).finditer(text, key.end()):
        mark = token[0]
        if mark in _OPEN:
            if not depth:
                between = text[found[-1] if found else key.end() : token.start()].strip()
                if between != ("," if found else ""):
                    break
                found.append(token.start())
            depth += 1
        elif len(mark) == 1:
            depth -= 1
            if depth < 0:
                return found
            if not depth:
                found.append(token.end())
        elif not depth:
            break
    return array("I")
