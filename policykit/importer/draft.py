"""A policy under construction, and its text: readable YAML with comments."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from policykit.escape import one_line
from policykit.manifests.parser import parse
from policykit.manifests.path import Path
from policykit.manifests.writer import scalar

_WIDE = 110
"""Longest line with a comment."""
_WIDTH = 100
"""Longest line of a collection."""
_SPLITS = re.compile(r"[,\[\]{}]")
"""Characters that end a plain scalar in a flow collection."""
_ENTRY = 2
"""Length of the path to a pool, queue or card."""


class Draft:
    """Data, with notes at line ends and captions above sections by path."""

    def __init__(self) -> None:
        self.data: dict[str, Any] = {}
        self.notes: dict[Path, str] = {}
        self.captions: dict[Path, str] = {}

    def note(self, path: Path, text: str) -> None:
        """A comment on the line of a key."""
        self.notes[path] = text

    def caption(self, path: Path, text: str) -> None:
        """Comment lines above a key."""
        self.captions[path] = text

    def remove(self, path: Path) -> None:
        """Removes the value at a path, and collections that become empty.

        Entries of a section stay: a queue with an invalid parent becomes a queue without one.
        """
        chain: list[Any] = [self.data]
        for step in path[:-1]:
            chain.append(chain[-1][step])
        del chain[-1][path[-1]]
        for depth in range(len(path) - 1, 0, -1):
            if chain[depth] or depth == _ENTRY:
                break
            del chain[depth - 1][path[depth - 1]]

    def text(self) -> str:
        """The policy as YAML with its comments."""
        lines = policy_lines(self.data)
        root = next(document.root for document in parse("\n".join(lines)) if document.root is not None)
        above: dict[int, list[str]] = {}
        for path, caption in self.captions.items():
            if self._exists(path):
                above.setdefault(root.location(path, key=True).line - 1, []).extend(caption.split("\n"))
        for path, note in self.notes.items():
            if self._exists(path):
                number = root.location(path, key=True).line - 1
                if len(lines[number]) + len(note) + 4 <= _WIDE:
                    lines[number] += f"  # {one_line(note)}"
                else:
                    above.setdefault(number, []).append(note)
        shown: list[str] = []
        for number, line in enumerate(lines):
            indent = " " * (len(line) - len(line.lstrip()))
            if number in above and not indent and shown:
                shown.append("")
            shown += [f"{indent}# {one_line(comment)}".rstrip() for comment in above.get(number, ())]
            shown.append(line)
        return "\n".join(shown) + "\n"

    def _exists(self, path: Path) -> bool:
        here: Any = self.data
        for step in path:
            if not isinstance(here, dict) or step not in here:
                return False
            here = here[step]
        return True


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
