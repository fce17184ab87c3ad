"""Nodes stand where libyaml's own marks say, whatever ends a line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from yaml import events
from yaml.cyaml import CParser  # type: ignore[attr-defined]

from policykit.manifests.node import LargeText, Lines, Mark, Node, lines_of
from policykit.manifests.parser import parse


def _nodes(node: Node) -> Iterator[Node]:
    yield node
    for entry in node.entries.values() if isinstance(node.entries, dict) else node.entries or ():
        for each in entry if isinstance(entry, tuple) else (entry,):
            yield from _nodes(each)


def _starts_of_libyaml(text: str) -> list[tuple[int, Mark]]:
    """Offset, line and column of each node, in order."""
    loader, found = CParser(text), []
    while not isinstance(event := loader.get_event(), events.StreamEndEvent):
        if isinstance(event, (events.ScalarEvent, events.CollectionStartEvent, events.AliasEvent)):
            mark: Any = event.start_mark
            found.append((mark.index, Mark(mark.line, mark.column)))
    return found


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("a: 1\nb:\n- c\n- {d: e}\n", id="line feeds"),
        pytest.param("a: 1\r\nb:\r\n- c\r\n", id="CRLF"),
        pytest.param("a: 1\rb:\r- c\r", id="carriage returns"),
        pytest.param("a: 1\x85b: 2\u2028c: 3\u2029d: 4\n", id="other breaks"),
        pytest.param("\ufeffa: 1\nb: 2\n", id="a byte order mark"),
        pytest.param('é: "\U0001f600"\nb: "x\n  y\r\n\n  z"\nc: 1\n', id="beyond ASCII, quotes"),
        pytest.param("a: |\n  x\n\n  y\nb: >-\n  z\n", id="block scalars"),
        pytest.param("# x\n---\na: 1\n---\nb: 2\n...\n---\nc: &x 3\nd: *x\n", id="documents"),
    ],
)
def test_places_are_those_of_libyaml(text: str) -> None:
    roots = [parsed.root for parsed in parse(text) if parsed.root]
    found = [(node.start_offset, node.start) for root in roots for node in _nodes(root)]
    assert found == _starts_of_libyaml(text)


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("a: 1\nb: 2\n", Mark(0, 0), Mark(1, 4)),
        ("a: {b: 1\n}\n", Mark(0, 0), Mark(1, 1)),
        ("\n- a\n- \n# x\n", Mark(1, 0), Mark(2, 1)),
        ("'\n\n'\n", Mark(0, 0), Mark(2, 1)),
        ("a: [1\n---\nb:\n- 1\n", Mark(2, 0), Mark(3, 3)),
    ],
)
def test_where_a_document_begins_and_ends(text: str, start: Mark, end: Mark) -> None:
    (root,) = (parsed.root for parsed in parse(text) if parsed.root)
    assert (root.start, root.end) == (start, end)


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r", "\x85", "\u2028"], ids=ascii)
def test_lines_of_a_large_text_are_those_of_a_small_one(ending: str) -> None:
    text = f"a: é{ending}{ending}b: 1"
    repeated = 250_000
    large = lines_of((text * repeated).encode())
    small = lines_of(text.encode())
    assert isinstance(large, LargeText)
    assert isinstance(small, list)
    last = repeated * (len(small) - 1)
    assert len(large) == last + 1
    assert [large[number] for number in range(4)] == ["a: é", "", "b: 1a: é", ""]
    assert [large[number] for number in (last - 2, last - 1, last)] == ["b: 1a: é", "", "b: 1"]


def test_places_in_a_large_text() -> None:
    text = "a: 1\r\nbc: 2\n" * 100_000
    lines = Lines(text)
    assert lines.mark(len(text) - 2) == Mark(199_999, 4)
    assert lines.offset(199_999) == len(text) - 6
