"""The earlier state that a command compares with: a revision of git, or another policy file."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from policykit.cli.options import cluster_from
from policykit.errors import SourceError
from policykit.model.cluster import Cluster
from policykit.namedtuple import NamedTuple
from policykit.workspace.cache.folder import NO_CACHE
from policykit.workspace.git import commit_of, has_commit, temporary_folder, top_of, write_revision
from policykit.workspace.safe_paths import is_within


class EarlierState(NamedTuple):
    """A policy file in place of the present one, or all files of a revision."""

    title: str
    """For messages: `main`, `old.yaml`."""
    file: str = ""
    """The policy file; empty: a revision."""
    root: str = ""
    """The repository of the revision; its real path."""
    folder: str = ""
    """Folder with the files of the revision."""
    commit: str = ""

    def path(self, path: str) -> str:
        """Where the files of the revision have a path of the repository; of a file: the path itself."""
        if self.file:
            return path
        absolute = os.path.abspath(path)
        real = os.path.join(os.path.realpath(os.path.dirname(absolute)), os.path.basename(absolute))
        if not is_within(real, self.root):
            raise SourceError("is not in the repository", f"{self.title} is a revision of {self.root}", path)
        return os.path.normpath(os.path.join(self.folder, os.path.relpath(real, self.root)))

    def has(self, policy: str) -> bool:
        """Whether there was such a policy."""
        return bool(self.file) or os.path.isfile(self.path(policy))

    def cluster(self, policy: str) -> Cluster:
        """The policy as it was. Raises SourceError if there was none."""
        if self.file or policy.startswith("profile:"):
            return cluster_from(self.file or policy, NO_CACHE)
        earlier = self.path(policy)
        if not os.path.isfile(earlier):
            hint = "name the policy of that time with --from FILE, if it has moved"
            raise SourceError(f"{self.title} has no such policy", hint, policy)
        return cluster_from(earlier, NO_CACHE)


@contextmanager
def earlier_state(reference: str, start: str) -> Iterator[EarlierState]:
    """The state that `--from REV|FILE` names; `start`: a folder of the repository.

    Raises SourceError or UsageError if git cannot tell.
    """
    if reference.startswith("profile:") or os.path.isfile(reference):
        yield EarlierState(reference, file=reference)
        return
    root = top_of(start)
    if reference.endswith((".yaml", ".yml")) and not has_commit(reference, root):
        hint = "name an earlier policy file, or a revision of git"
        raise SourceError("there is no such file", hint, reference)
    commit = commit_of(reference, root)
    with temporary_folder() as made:
        folder = os.path.join(made, "repository")
        write_revision(root, commit, folder)
        yield EarlierState(reference, root=root, folder=folder, commit=commit)
