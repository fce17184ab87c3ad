"""Patterns of files as Argo CD expands them: `*` within a name, `**` for any number of folders."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase

_DEEP = "**"


def is_pattern(path: str) -> bool:
    """Whether it stands for several files."""
    return any(mark in path for mark in "*?[")


def expanded(pattern: str, files: Iterable[str]) -> list[str]:
    """The files that match, in the order of helm's options: those of a folder, then of folders in it."""
    parts = posixpath.normpath(pattern).split("/")
    return sorted((path for path in files if _matches(path.split("/"), parts)), key=_order)


def _order(path: str) -> tuple[tuple[bool, str], ...]:
    *folders, name = path.split("/")
    return (*((True, folder) for folder in folders), (False, name))


def _matches(names: Sequence[str], parts: Sequence[str]) -> bool:
    """Row by row: how many names the parts so far may stand for."""
    reached = {0}
    for part in parts:
        if part == _DEEP:
            reached = set(range(min(reached), len(names) + 1)) if reached else set()
        else:
            reached = {at + 1 for at in reached if at < len(names) and fnmatchcase(names[at], part)}
    return len(names) in reached
