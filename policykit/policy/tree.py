"""Policy data whose values keep their source file, also when merged."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from policykit.manifests.node import Node, Span
from policykit.manifests.path import Path, Step
from policykit.namedtuple import NamedTuple


class PolicyFile(NamedTuple):
    """A policy file that was read."""

    name: str
    """The name shown to users: the path, or profile:NAME."""
    root: Node


class SourcedValue(NamedTuple):
    """A value and its source file. Its path is the same in the file and in the merged policy."""

    value: Any
    """A scalar, a dict from key to SourcedValue, or a list of SourcedValue."""
    source: PolicyFile


def sourced_value(node: Node, source: PolicyFile) -> SourcedValue:
    """A YAML node with everything below it."""
    if isinstance(node.entries, dict):
        return SourcedValue(
            {key: sourced_value(value, source) for key, (_, value) in node.entries.items()}, source
        )
    if isinstance(node.entries, list):
        return SourcedValue([sourced_value(item, source) for item in node.entries], source)
    return SourcedValue(node.data, source)


def merge(base: SourcedValue, over: SourcedValue) -> SourcedValue:
    """`over` laid on `base`: maps merge deeply, anything else replaces.

    A null also replaces and is kept, to delete the value of a base merged below later;
    `plain` drops it.
    """
    if not (isinstance(base.value, dict) and isinstance(over.value, dict)):
        return over
    merged = dict(base.value)
    for key, value in over.value.items():
        merged[key] = merge(merged[key], value) if key in merged else value
    return SourcedValue(merged, over.source)


def plain(tree: SourcedValue) -> Any:
    """Plain data: maps without the keys that are null, lists as tuples."""
    if isinstance(tree.value, dict):
        return {key: plain(value) for key, value in tree.value.items() if value.value is not None}
    if isinstance(tree.value, list):
        return tuple(plain(item) for item in tree.value)
    return tree.value


def nulls(tree: SourcedValue, path: Path = ()) -> Iterator[Path]:
    """Paths of the map entries that are null."""
    if isinstance(tree.value, dict):
        for key, value in tree.value.items():
            if value.value is None:
                yield (*path, key)
            else:
                yield from nulls(value, (*path, key))


def find(tree: SourcedValue, path: Sequence[Step]) -> SourcedValue | None:
    """The value at a path; None if there is none."""
    here: SourcedValue | None = tree
    for step in path:
        here = _child(here, step) if here is not None else None
    return here


class Position(NamedTuple):
    """A location in a policy file, line and column from 1. Sorts in reading order."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


def position(tree: SourcedValue, path: Sequence[Step], *, key: bool = False) -> Position:
    """Location of a path in its source file, or of its nearest existing parent."""
    file, found = location(tree, path, key=key)
    return Position(file, found.line, found.column)


def location(tree: SourcedValue, path: Sequence[Step], *, key: bool = False) -> tuple[str, Span]:
    """The same with its end: (file, place)."""
    here = tree
    for step in path:
        below = _child(here, step)
        if below is None:
            break
        here = below
    return here.source.name, here.source.root.location(path, key=key)


def _child(tree: SourcedValue, step: Step) -> SourcedValue | None:
    value = tree.value
    if isinstance(value, dict) and isinstance(step, str):
        return value.get(step)
    if isinstance(value, list) and isinstance(step, int) and 0 <= step < len(value):
        return value[step]  # type: ignore[no-any-return]
    return None
