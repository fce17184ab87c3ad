"""`--since`: the findings of documents that changed since a git revision."""

from __future__ import annotations

import os
from collections.abc import Iterator

from policykit.cli.linting.gather import STDIN, Gathered
from policykit.errors import SourceError
from policykit.linter.changed import changed_documents
from policykit.linter.finding import Finding
from policykit.linter.member import Member
from policykit.sources.baselines import folder_of
from policykit.sources.files import repository_root
from policykit.sources.revisions import changes_since, top_of


class Since:
    """Knows which documents of a run's files changed; made before anything is fixed.

    The revision is one of the repository that the current folder belongs to.
    """

    def __init__(self, gathered: Gathered, revision: str) -> None:
        """Raises SourceError or UsageError where git cannot tell."""
        self._documents = dict(_documents(gathered, revision))

    def changed(self, finding: Finding) -> bool:
        """Whether the finding's document changed: new files and standard input have as a whole."""
        documents = self._documents.get(finding.path)
        return documents is None or finding.document in documents


def _documents(gathered: Gathered, revision: str) -> Iterator[tuple[str, frozenset[int]]]:
    """The changed documents of each file that is not new as a whole."""
    here = repository_root(os.getcwd())
    home = top_of(here) if here else ""
    for root, members in _by_repository(gathered).items():
        files = [member.file for member in members]
        changes = changes_since(revision, files, top_of(root or folder_of(files[0])), home)
        for member in members:
            change = changes.of(member.file)
            if change is None:
                yield member.path, frozenset()
            elif change[0] is not None:
                yield member.path, changed_documents(change[0], _now(gathered, member.file))


def _by_repository(gathered: Gathered) -> dict[str | None, list[Member]]:
    found: dict[str | None, list[Member]] = {}
    for member in gathered.members:
        if member.file != STDIN:
            found.setdefault(repository_root(folder_of(member.file)), []).append(member)
    return found


def _now(gathered: Gathered, file: str) -> bytes:
    try:
        return gathered.read(file)
    except SourceError:
        # Told where it is linted; there are no findings in it.
        return b""
