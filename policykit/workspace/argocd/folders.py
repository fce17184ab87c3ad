"""Which files Argo CD reads of a folder without a kustomization."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase

from policykit.workspace.scopes import KUSTOMIZATIONS
from policykit.workspace.sources import FolderOptions

_SUFFIXES = (".yaml", ".yml", ".json")
_JSONNET = ".jsonnet"
_CHOICE = re.compile(r"\{([^{}]*)\}")
_MOST = 100
"""Patterns that the braces of one may stand for."""


def is_read(path: str, options: FolderOptions) -> bool:
    """Whether a file is read, by its path in the folder."""
    name = path.rpartition("/")[2]
    if not name.endswith((*_SUFFIXES, _JSONNET)) or name in KUSTOMIZATIONS:
        return False
    if options.exclude and _matches(path, options.exclude):
        return False
    return not options.include or _matches(path, options.include)


def is_jsonnet(path: str) -> bool:
    """Whether a file makes objects in a way that is not read here."""
    return path.endswith(_JSONNET)


def _matches(path: str, pattern: str) -> bool:
    """`*` stands for any text, folders included; `{a,b}` for one of several."""
    return any(fnmatchcase(path, each) for each in _choices(pattern))


def _choices(pattern: str) -> list[str]:
    done: list[str] = []
    pending = [pattern]
    while pending and len(done) + len(pending) <= _MOST:
        here = pending.pop()
        match = _CHOICE.search(here)
        if match is None:
            done.append(here)
        else:
            parts = match[1].split(",")
            pending += [f"{here[: match.start()]}{part}{here[match.end() :]}" for part in parts]
    return done
