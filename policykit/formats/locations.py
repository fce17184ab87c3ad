"""Locations of findings: lines and offsets in their files, and paths relative to the repository."""

from __future__ import annotations

import os
import re
from bisect import bisect_right
from collections.abc import Callable

_BOM = b"\xef\xbb\xbf"
_BREAK = re.compile(b"\n")


class SourceFiles:
    """The files of a report, each read once."""

    def __init__(self, raw: Callable[[str], bytes]) -> None:
        self._raw = raw
        self._lines: dict[str, list[str]] = {}
        self._bytes: dict[str, bytes] = {}
        self._starts: dict[str, list[int]] = {}

    def line(self, path: str, number: int) -> str:
        """A line of a file, counted from 1, without its ending; empty if there is none."""
        if path not in self._lines:
            text = self._content(path).removeprefix(_BOM).decode("utf-8", errors="replace")
            lines = text.split("\n")
            self._lines[path] = [line.removesuffix("\r") for line in lines] if "\r" in text else lines
        lines = self._lines[path]
        return lines[number - 1] if 0 < number <= len(lines) else ""

    def line_and_column(self, path: str, offset: int) -> tuple[int, int]:
        """Line and column, from 1 and in code points, of an offset in bytes."""
        raw = self._content(path)
        if path not in self._starts:
            shift = len(_BOM) if raw.startswith(_BOM) else 0
            self._starts[path] = [shift, *(match.end() for match in _BREAK.finditer(raw))]
        starts = self._starts[path]
        line = max(bisect_right(starts, offset), 1)
        return line, len(raw[starts[line - 1] : offset].decode("utf-8", errors="replace")) + 1

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
