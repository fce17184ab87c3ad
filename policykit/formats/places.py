"""Lines and offsets in the files of findings."""

from __future__ import annotations

import os
from collections.abc import Callable

_BOM = b"\xef\xbb\xbf"


class Files:
    """The files of a report, each read once."""

    def __init__(self, raw: Callable[[str], bytes]) -> None:
        self._raw = raw
        self._lines: dict[str, list[str]] = {}
        self._bytes: dict[str, bytes] = {}

    def line(self, path: str, number: int) -> str:
        """A line of a file, counted from 1, without its ending; empty if there is none."""
        if path not in self._lines:
            text = self._content(path).removeprefix(_BOM).decode("utf-8", errors="replace")
            self._lines[path] = text.split("\n")
        lines = self._lines[path]
        return lines[number - 1].removesuffix("\r") if 0 < number <= len(lines) else ""

    def place(self, path: str, offset: int) -> tuple[int, int]:
        """Line and column, from 1 and in code points, of an offset in bytes."""
        raw = self._content(path)
        shift = len(_BOM) if raw.startswith(_BOM) else 0
        before = raw[shift : max(offset, shift)]
        start = before.rfind(b"\n") + 1
        return before.count(b"\n") + 1, len(before[start:].decode("utf-8", errors="replace")) + 1

    def _content(self, path: str) -> bytes:
        if path not in self._bytes:
            self._bytes[path] = self._raw(path)
        return self._bytes[path]


def relative(path: str, root: str) -> str:
    """A path as services expect it: relative to the repository root, with slashes, without `./`."""
    if root and os.path.isabs(path):
        inside = os.path.relpath(path, root)
        path = path if inside.startswith("..") else inside
    elif root and os.path.isabs(root):
        inside = os.path.relpath(os.path.abspath(path), root)
        path = path if inside.startswith("..") else inside
    return path.replace(os.sep, "/")
