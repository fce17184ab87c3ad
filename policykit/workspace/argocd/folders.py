"""The files that Argo CD reads in a folder without a kustomization."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase

from policykit.workspace.scopes import KUSTOMIZATIONS
from policykit.workspace.sources import FolderOptions

_SUFFIXES = (".yaml", ".yml", ".json")
_JSONNET = ".jsonnet"
_CHOICE = re.compile(r"\{([^{}]*)\}")
_MOST = 100
"""Most patterns that the braces of one pattern may expand to."""


def is_read(path: str, options: FolderOptions) -> bool:
    """Whether Argo CD reads a file; `path`: relative to the folder."""
    name = path.rpartition("/")[2]
    if not name.endswith((*_SUFFIXES, _JSONNET)) or name in KUSTOMIZATIONS:
        return False
    if options.exclude and _matches(path, options.exclude):
        return False
    return not options.include or _matches(path, options.include)


def is_jsonnet(path: str) -> bool:
    """Whether a file is Jsonnet, which policykit does not evaluate."""
    return path.endswith(_JSONNET)


def _matches(path: str, pattern: str) -> bool:
    """Whether a path matches: `*` is any text, including slashes; `{a,b}` is one of several texts."""
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
