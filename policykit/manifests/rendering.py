"""New values as text, in the style of the text around them."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from policykit.manifests import writer
from policykit.manifests.node import Node
from policykit.manifests.writer import HOUSE, Layout

_FLOW_INDICATORS = frozenset(",[]{}")
_WIDEST = 8
"""Columns of indentation beyond which a block is not an example to follow."""


def inline(value: Any) -> str | None:
    """The value on one line of block style; None where it needs lines of its own."""
    if isinstance(value, (dict, list, tuple)):
        return None if value else ("{}" if isinstance(value, dict) else "[]")
    if isinstance(value, str) and "\n" in value:
        return None
    return writer.scalar(value)


def requoted(value: Any, style: object) -> str | None:
    """As `inline`, keeping the quotes of the scalar it replaces."""
    if isinstance(value, str) and "\n" not in value and value.isprintable():
        if style == '"':
            return json.dumps(value, ensure_ascii=False)
        if style == "'":
            return "'" + value.replace("'", "''") + "'"
    return inline(value)


def flow(value: Any, quoted: bool) -> str:
    """The value in flow style; `quoted`: as JSON, every text in double quotes."""
    if isinstance(value, dict):
        return "{" + ", ".join(entry(str(k), v, quoted) for k, v in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(flow(item, quoted) for item in value) + "]"
    if isinstance(value, str) and (quoted or _FLOW_INDICATORS & set(value)):
        return json.dumps(value, ensure_ascii=False)
    return writer.scalar(value)


def entry(key: str, value: Any, quoted: bool) -> str:
    return f"{flow(key, quoted)}: {flow(value, quoted)}"


def ends_in_block_text(value: Any) -> bool:
    """Its last line is one of a literal block: whatever follows on that line would belong to it."""
    while isinstance(value, (dict, list, tuple)) and value:
        value = list(value.values())[-1] if isinstance(value, dict) else value[-1]
    return isinstance(value, str) and "\n" in value


def lines(value: Any, column: int, layout: Layout = HOUSE) -> list[str]:
    """A mapping or sequence in block style, every line indented to `column`."""
    pad = " " * column
    return [pad + line if line else "" for line in writer.dump(value, layout)[:-1].split("\n")]


def layout_of(root: Node) -> Layout:
    """How most blocks of a document are indented; the house's way where it has none."""
    mappings: Counter[int] = Counter()
    sequences: Counter[int] = Counter()
    pending, seen = [root] if _is_block(root) else [], set[int]()
    while pending:
        node = pending.pop()
        if id(node.entries) in seen:
            continue
        seen.add(id(node.entries))
        # Of scalars, most of a document, it is not asked where they are.
        if isinstance(node.entries, list):
            pending.extend(
                item for item in node.entries if _is_block(item) and item.start_offset >= node.start_offset
            )
            continue
        for key, value in node.entries.values():
            if (
                _is_block(value)
                and key.start_offset >= node.start_offset
                and value.start_offset > key.start_offset
            ):
                votes = sequences if isinstance(value.entries, list) else mappings
                votes[value.start.column - key.start.column] += 1
                pending.append(value)
    return Layout(_most(mappings, HOUSE.mapping), _most(sequences, HOUSE.sequence))


def _is_block(node: Node) -> bool:
    """A mapping or sequence in block style that is not empty."""
    return bool(node.entries) and not node.style


def _most(votes: Counter[int], otherwise: int) -> int:
    allowed = {columns: votes[columns] for columns in sorted(votes) if 0 <= columns <= _WIDEST}
    return max(allowed, key=lambda columns: allowed[columns], default=otherwise)
