"""A policy as readable YAML: short collections on one line."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from policykit.manifests.writer import scalar

_WIDTH = 100
_SPLITS = re.compile(r"[,\[\]{}]")
"""Characters that end a plain scalar in a flow collection."""


def policy_lines(data: Mapping[str, Any]) -> list[str]:
    """The lines of the document, in the order of the data. Lists contain scalars or maps."""
    lines: list[str] = []
    for key, value in data.items():
        if isinstance(value, dict) and any(isinstance(each, dict) for each in value.values()):
            lines.append(f"{scalar(key)}:")
            for name, each in value.items():
                _entry(f"{scalar(str(name))}:", each, 2, lines)
        else:
            _entry(f"{scalar(key)}:", value, 0, lines)
    return lines


def _entry(lead: str, value: Any, indent: int, lines: list[str]) -> None:
    pad = " " * indent
    flow = _flow(value)
    if flow is not None and (
        len(pad) + len(lead) + 1 + len(flow) <= _WIDTH or not isinstance(value, (dict, list))
    ):
        lines.append(f"{pad}{lead} {flow}")
        return
    lines.append(f"{pad}{lead}")
    if isinstance(value, dict):
        for key, each in value.items():
            _entry(f"{scalar(str(key))}:", each, indent + 2, lines)
        return
    for item in value:
        _item(item, indent + 2, lines)


def _item(item: Any, indent: int, lines: list[str]) -> None:
    flow = _flow(item)
    if flow is not None:
        lines.append(f"{' ' * indent}- {flow}")
        return
    start = len(lines)
    for key, value in item.items():
        _entry(f"{scalar(str(key))}:", value, indent + 2, lines)
    lines[start] = f"{' ' * indent}- {lines[start][indent + 2 :]}"


def _flow(value: Any) -> str | None:
    """The value on one line: a scalar, a collection of scalars, or a map with one such entry; else None."""
    if not isinstance(value, (dict, list)):
        return scalar(value)
    parts = list(value.values()) if isinstance(value, dict) else value
    shown = [_flow(part) if isinstance(part, (dict, list)) else _inside(part) for part in parts]
    nested = any(isinstance(part, (dict, list)) for part in parts)
    if None in shown or (nested and (isinstance(value, list) or len(value) > 1)):
        return None
    if isinstance(value, list):
        return f"[{', '.join(map(str, shown))}]"
    pairs = zip(map(_inside, map(str, value)), shown, strict=True)
    return "{" + ", ".join(f"{key}: {text}" for key, text in pairs) + "}"


def _inside(value: Any) -> str:
    text = scalar(value)
    return f'"{text}"' if _SPLITS.search(text) and not text.startswith('"') else text
