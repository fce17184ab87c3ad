"""`--since`: the findings of documents that changed since a git revision."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence

from policykit.cli.linting.request import STDIN
from policykit.errors import SourceError
from policykit.linter.workspace import Member
from policykit.workspace.baselines import folder_of
from policykit.workspace.files import repository_root
from policykit.workspace.revisions import changed_documents, changes_since, top_of

Changes = Mapping[str, frozenset[int]]
"""Reported paths to the indices of documents."""


def changes_of(members: Sequence[Member], read: Callable[[str], bytes], revision: str) -> Changes:
    """The changed documents of each file that is not new as a whole.

    The revision is one of the repository that the current folder belongs to. Raises SourceError or
    UsageError where git cannot tell.
    """
    found: dict[str, frozenset[int]] = {}
    here = repository_root(os.getcwd())
    home = top_of(here) if here else ""
    for root, own in _by_repository(members).items():
        files = [member.file for member in own]
        changes = changes_since(revision, files, top_of(root or folder_of(files[0])), home)
        for member in own:
            change = changes.of(member.file)
            if change is None:
                found[member.path] = frozenset()
            elif change[0] is not None:
                found[member.path] = changed_documents(change[0], _now(read, member.file))
    return found


def _by_repository(members: Sequence[Member]) -> dict[str | None, list[Member]]:
    found: dict[str | None, list[Member]] = {}
    for member in members:
        if member.file != STDIN:
            found.setdefault(repository_root(folder_of(member.file)), []).append(member)
    return found


def _now(read: Callable[[str], bytes], file: str) -> bytes:
    try:
        return read(file)
    except SourceError:
        # Told where it is linted; there are no findings in it.
        return b""
