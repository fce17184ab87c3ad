"""A new value as it is written at a given place of a text."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from policykit.manifests import writer

_FLOW_INDICATORS = frozenset(",[]{}")


def inline(value: Any) -> str | None:
    """The value on one line of block style; None where it needs lines of its own."""
    if isinstance(value, (dict, list, tuple)):
        return None if value else ("{}" if isinstance(value, dict) else "[]")
    if isinstance(value, str) and "\n" in value:
        return None
    return writer.scalar(value)


def requoted(value: Any, style: object) -> str | None:
    """As `inline`, keeping the quotes of the scalar that stood there."""
    if isinstance(value, str) and "\n" not in value and value.isprintable():
        if style == '"':
            return json.dumps(value, ensure_ascii=False)
        if style == "'":
            return "'" + value.replace("'", "''") + "'"
    return inline(value)


def flow(value: Any, quoted: bool) -> str:
    """The value in flow style; `quoted`: as JSON, every text in double quotes."""
    if isinstance(value, Mapping):
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


def lines(value: Any, column: int) -> list[str]:
    """A mapping or sequence in block style, every line indented to `column`."""
    pad = " " * column
    return [pad + line if line else "" for line in writer.dump(value)[:-1].split("\n")]
