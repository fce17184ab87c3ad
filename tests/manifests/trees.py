"""What two readers make of a text, in a form that can be compared."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from policykit.manifests import event_reader
from policykit.manifests.node import Lines, Node
from policykit.manifests.parsed_document import ParsedDocument
from policykit.manifests.parser import as_yaml
from policykit.manifests.path import Path

Facts = tuple[Any, ...]


def by_events(text: str) -> list[ParsedDocument]:
    """The documents of a text, as the reader of events makes them."""
    text = as_yaml(text)
    return list(event_reader.documents(text, Lines(text)))


def described(documents: Iterable[ParsedDocument]) -> list[Facts]:
    """Everything there is to know about documents, node by node; what is shared has the same number."""
    return [
        (
            parsed.start_line,
            parsed.problem,
            tuple(_locations(parsed.root)) if parsed.root else None,
            tuple(_nodes(parsed.root, {}, {})) if parsed.root else None,
            [
                (duplicate.key, _scalar(duplicate.node), _scalar(duplicate.first))
                for duplicate in parsed.duplicates
            ],
        )
        for parsed in documents
    ]


def _scalar(node: Node) -> Facts:
    data = "" if isinstance(node.data, (dict, list)) else repr(node.data)
    return (type(node.data), data, node.extent, node.start, node.end, node.style, node.written)


_MOST_LOCATED = 300


def _locations(root: Node) -> Iterator[Facts]:
    """Where findings at the first paths point, and at what is not there, asked before any node is made."""
    waiting: list[tuple[Path, Any]] = [((), root.data)]
    for path, data in waiting:
        asked = (path, (*path, "absent"), (*path, 9))
        yield path, [root.location(each, key=key) for each in asked for key in (False, True)]
        steps: Iterable[tuple[Any, Any]] = ()
        if isinstance(data, (dict, list)) and len(waiting) < _MOST_LOCATED:
            steps = data.items() if isinstance(data, dict) else enumerate(data)
        waiting += [((*path, step), value) for step, value in steps]


def _nodes(root: Node, shared: dict[int, int], found: dict[int, int]) -> Iterator[Facts]:
    """Nodes in the order of the text; a node that was met, and what aliases share, by its number."""
    waiting: list[Node] = [root]
    while waiting:
        node = waiting.pop()
        seen = found.setdefault(id(node), len(found))
        entries = node.entries
        keys: list[object] = []
        if entries is not None and id(entries) not in shared:
            shared[id(entries)] = len(shared)
            if isinstance(entries, dict):
                assert all(node.data[key] is value.data for key, (_, value) in entries.items())
                keys = list(entries)
                assert keys == list(node.data)
                waiting += [each for pair in reversed(entries.values()) for each in reversed(pair)]
            else:
                assert all(one is item.data for one, item in zip(node.data, entries, strict=True))
                keys = [len(entries)]
                waiting += reversed(entries)
        yield (seen, type(entries), shared.get(id(entries)), keys, _scalar(node))
