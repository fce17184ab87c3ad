"""Entries of kustomizations: why one leads nowhere, and which strings may be paths."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from policykit.linter.not_judged import BUILD_FAILED, GENERATED, REMOTE, UNKNOWN_VARIABLE
from policykit.manifests.path import Path
from policykit.namedtuple import NamedTuple
from policykit.workspace.files import is_fetched, is_ignored, script_of

_HOST = re.compile(r"[\w-]+(\.[\w-]+)+(:\d+)?/")
"""`github.com/`: the host of a remote repository."""


class Entry(NamedTuple):
    """An entry of a kustomization."""

    file: str
    """The kustomization, links resolved."""
    at: Path
    said: str


class NotHereError(Exception):
    """A kustomization cannot be built from the files on this machine, or not at all."""

    def __init__(self, why: str, reason: str, wrong: Entry | None = None) -> None:
        """`reason`: its name in `policykit.linter.not_judged`; `wrong`: the entry with the mistake if the
        kustomization cannot be built anywhere."""
        super().__init__(why)
        self.reason = reason
        self.wrong = wrong


def strings(value: Any) -> Iterator[str]:
    """All strings in data, except keys."""
    pending = [value]
    while pending:
        here = pending.pop()
        if isinstance(here, dict):
            pending.extend(here.values())
        elif isinstance(here, list):
            pending.extend(here)
        elif isinstance(here, str):
            yield here


def absence(said: str, path: str) -> tuple[str, str]:
    """Why the path of an entry does not exist, as text and by the name of the reason."""
    if is_remote(said):
        return "is not on this machine", REMOTE
    if "${" in said or "{{" in said:
        return "has a variable", UNKNOWN_VARIABLE
    if is_ignored(path):
        return "does not exist yet: .gitignore keeps it out of the repository", GENERATED
    if is_fetched(path):
        return "does not exist yet: something has to fetch or generate its folder", GENERATED
    if script := script_of(path):
        return f"does not exist yet: {script} names it", GENERATED
    return "does not exist", BUILD_FAILED


def is_remote(said: str) -> bool:
    """Whether an entry that does not exist may be remote: a URL, or `host.example/owner`."""
    return any(mark in said for mark in ("://", "//", "@", "?ref=", ".git")) or bool(_HOST.match(said))
