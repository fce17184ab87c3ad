"""Flow collections of one line in block YAML: `{cpu: 2}`, `[train, "--epochs=3"]`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

from policykit.manifests.node import OFFSET_BITS, Lines, Node
from policykit.manifests.parsed_document import MERGE, UnreadError
from policykit.manifests.scalars import resolve

MAX_DEPTH = 8
"""Levels. What is deeper is left to the reader of events."""
LONGEST_KEY = 250
"""Characters. YAML allows some 1,000."""
# Characters beyond ASCII are excluded from no class: `block_reader` has rejected those that may not be there.
# Their ranges would make a class that takes a tenth of a second to compile.
QUOTED = r""""[^\x00-\x1f\x7f"\\]*+"|'[^\x00-\x1f\x7f']*+'"""
"""Quoted text of one line without escapes, as an expression."""


def _scalar(text: str) -> Any:
    return text[1:-1] if text[0] in "\"'" else resolve(text)


@cache
def _tokens() -> re.Pattern[str]:
    """Tokens of a flow collection: a scalar, the colon behind a key, or one character."""
    rest = r"[^\x00- \x7f\#%&'*,:?\[\]{}]"
    plain = rf"(?:[^\x00- \x7f!\"\#%&'*,:>?@`|\[\]{{}}-]|-(?=[A-Za-z0-9_./-]))(?:{rest}++|[ ]++(?={rest}))*+"
    return re.compile(rf"[ ]*+(?:({QUOTED}|{plain})(?:[ ]*+(:)(?=[ ]))?+|([^ ]))")


def value(text: str) -> Any:
    """The value of a flow collection of one line. Raises UnreadError."""
    stack: list[tuple[Any, str]] = []
    data: Any = None
    key = ""
    mapping = ended = False
    for scalar, colon, mark in _tokens().findall(text):
        if ended:
            if mark == ",":
                ended = False
                continue
            if not stack or mark != ("}" if mapping else "]"):
                raise UnreadError
        elif scalar:
            if mapping and not key:
                key = scalar[1:-1] if scalar[0] in "\"'" else scalar
                if not colon or not key or key in data or len(key) > LONGEST_KEY:
                    raise UnreadError
                if key is scalar and (key == MERGE or resolve(key) is not key):
                    raise UnreadError
                continue
            if colon or data is None:
                raise UnreadError
            if mapping:
                data[key] = _scalar(scalar)
                key = ""
            else:
                data.append(_scalar(scalar))
            ended = True
            continue
        elif mark in ("[", "{"):
            if len(stack) == MAX_DEPTH or (mapping and not key):
                raise UnreadError
            stack.append((data, key))
            key = ""
            mapping = mark == "{"
            data = {} if mapping else []
            continue
        elif key or not stack or mark != ("}" if mapping else "]"):
            raise UnreadError
        # The innermost collection is closed.
        closed = data
        data, key = stack.pop()
        ended = True
        if data is None:
            data = closed
            continue
        mapping = type(data) is dict
        if mapping:
            data[key] = closed
            key = ""
        else:
            data.append(closed)
    if stack or not ended:
        raise UnreadError
    return data


def node(data: Any, text: str, offset: int, lines: Lines) -> Node:
    """The node of a flow collection whose value is known, from its text and where that begins."""
    return _node(data, _tokens().finditer(text), offset, lines)


def _node(data: Any, tokens: Iterator[re.Match[str]], offset: int, lines: Lines) -> Node:
    """The node of a value that begins with the next token."""
    token = next(tokens)
    if type(data) is not dict and type(data) is not list:
        return _scalar_node(data, token, offset, lines)
    start = offset + token.start(3)
    entries: Any
    if type(data) is dict:
        entries = {}
        for key, inner in data.items():
            if entries:
                next(tokens)
            key_node = _scalar_node(key, next(tokens), offset, lines)
            entries[key] = (key_node, _node(inner, tokens, offset, lines))
    else:
        entries = []
        for inner in data:
            if entries:
                next(tokens)
            entries.append(_node(inner, tokens, offset, lines))
    token = next(tokens)
    if token[3] == ",":
        token = next(tokens)
    return Node(data, start << OFFSET_BITS | offset + token.end(3), lines, entries, True)


def _scalar_node(data: Any, token: re.Match[str], offset: int, lines: Lines) -> Node:
    text = token[1]
    style = text[0] if text[0] in "\"'" else ""
    extent = offset + token.start(1) << OFFSET_BITS | offset + token.end(1)
    node = Node(data, extent, lines, None, style)
    node.written = "" if type(data) is str else text
    return node
