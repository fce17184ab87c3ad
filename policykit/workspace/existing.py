"""The files an import reads: what they are given as, and in folders everything that may tell something."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator

from policykit.errors import SourceError
from policykit.generator.bundle import owner
from policykit.workspace import boundary
from policykit.workspace.files import SUFFIXES, read

_GENERATED = (".sh", ".env", ".md")
"""Read in folders where policykit wrote them."""
_NEVER = frozenset({".hg", ".svn", ".venv", "node_modules"})


def existing(paths: Iterable[str]) -> dict[str, bytes]:
    """Path to content, in the order given, folders in order of name; `-` is standard input.

    Raises SourceError for what does not exist or cannot be read.
    """
    found: dict[str, bytes] = {}
    for path in paths:
        if path == "-":
            found["<stdin>"] = stdin()
        elif os.path.isdir(path):
            found.update(_below(path))
        else:
            found[path.replace(os.sep, "/")] = read(path)
    return found


def stdin() -> bytes:
    """Raises SourceError where standard input is closed."""
    if sys.stdin is None:
        raise SourceError("standard input is closed", "redirect a file or pipe a command into it")
    return sys.stdin.buffer.read()


def _below(folder: str) -> Iterator[tuple[str, bytes]]:
    boundary.readable(folder)
    boundary.add_argument(folder)
    for here, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in _NEVER and not boundary.names_git(name))
        for name in sorted(names):
            path = os.path.join(here, name)
            if name.endswith(SUFFIXES):
                yield path.replace(os.sep, "/"), read(path)
            elif name.endswith(_GENERATED):
                raw = read(path)
                if owner(raw.decode("utf-8", errors="replace")):
                    yield path.replace(os.sep, "/"), raw
