"""A folder of generated files on disk: what is ours there, and writing only that."""

from __future__ import annotations

import os
from collections.abc import Iterable

from policykit.errors import SourceError
from policykit.generator.bundle import owner

_NEVER = frozenset({".git"})


def ours(folder: str, policy: str) -> dict[str, str]:
    """Path to text of the files below a folder that were generated from this policy."""
    found: dict[str, str] = {}
    for here, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in _NEVER)
        for name in sorted(names):
            path = os.path.join(here, name)
            text = _text(path)
            if text is not None and owner(text) == policy:
                found[os.path.relpath(path, folder).replace(os.sep, "/")] = text
    return found


def refuse_foreign(folder: str, paths: Iterable[str], policy: str) -> None:
    """Raises SourceError where a file to be written exists and is not ours."""
    for relative in paths:
        path = os.path.join(folder, relative)
        if os.path.lexists(path):
            text = _text(path)
            if text is None or owner(text) != policy:
                raise SourceError(
                    "was not generated from this policy, so it is left alone",
                    "move it away, or choose another output folder with -o",
                    path,
                )


def remove(folder: str, paths: Iterable[str]) -> None:
    """Deletes files, and the folders they leave empty."""
    for relative in paths:
        path = os.path.join(folder, relative)
        os.unlink(path)
        here = os.path.dirname(path)
        while here != folder and not os.listdir(here):
            os.rmdir(here)
            here = os.path.dirname(here)


def _text(path: str) -> str | None:
    """None: not a readable text file, so not one of ours."""
    if not os.path.isfile(path):
        return None
    try:
        with open(path, encoding="utf-8", newline="") as file:
            return file.read()
    except (OSError, UnicodeDecodeError):
        return None
