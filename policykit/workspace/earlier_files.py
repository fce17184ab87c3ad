"""The files of a revision, written to a temporary folder so that they can be linted."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from tempfile import TemporaryDirectory

from policykit.errors import SourceError
from policykit.workspace.boundary import LARGE
from policykit.workspace.files import SUFFIXES
from policykit.workspace.revisions import LINK, SUBMODULE, TreeEntry, contents, entries

_MOST = 1 << 20
"""Maximum bytes of a file that is not a manifest, which generators of kustomize may read."""


@contextmanager
def temporary_folder() -> Iterator[str]:
    """A folder, links resolved, that exists until the end of the block."""
    with TemporaryDirectory(prefix="policykit-") as made:
        yield os.path.realpath(made)


def create_folder(path: str) -> None:
    """Creates a folder in the temporary one, unless it exists."""
    os.makedirs(path, exist_ok=True)


def write_revision(root: str, commit: str, folder: str) -> frozenset[str]:
    """Writes the files of a commit of the repository at `root`; returns the names of all of them.

    Contents are written as git stores them. A link is written only if it is relative; its target is
    checked when it is read. Submodules are left empty. Raises SourceError for a file that git does not
    have although it is in the work tree.
    """
    os.makedirs(os.path.join(folder, ".git"))  # makes the folder the boundary
    every = entries(root, commit)
    files = [one for one in every if one.mode != SUBMODULE and _is_wanted(one)]
    links: list[tuple[str, bytes]] = []
    folders: set[str] = set()
    for one, raw in contents(root, files):
        if raw is None:
            _missing(root, one)
        elif one.mode == LINK:
            links.append((os.path.join(folder, one.path), raw))
        else:
            _write(os.path.join(folder, one.path), raw, folders)
    for path, raw in links:
        _link(path, os.fsdecode(raw))
    return frozenset(one.path for one in every)


def manifests_in(names: frozenset[str]) -> Iterator[str]:
    """The names of manifest files, sorted."""
    return (name for name in sorted(names) if name.endswith(SUFFIXES))


def _is_wanted(one: TreeEntry) -> bool:
    return (one.size or 0) <= (LARGE if one.path.endswith(SUFFIXES) else _MOST)


def _write(path: str, raw: bytes, folders: set[str]) -> None:
    """`folders`: those that are known to exist."""
    folder = os.path.dirname(path)
    if folder not in folders:
        os.makedirs(folder, exist_ok=True)
        folders.add(folder)
    with open(path, "xb") as file:
        file.write(raw)


def _link(path: str, target: str) -> None:
    if os.path.isabs(target) or "\0" in target or os.path.lexists(path):
        return
    os.makedirs(os.path.dirname(path), exist_ok=True)
    os.symlink(target, path)


def _missing(root: str, one: TreeEntry) -> None:
    """Raises SourceError for a file that a partial clone lacks, unless it is not checked out either, as in a
    sparse checkout: then it is not part of the run."""
    if os.path.lexists(os.path.join(root, one.path)):
        raise SourceError(
            f"git does not have the earlier contents of {one.path}",
            "fetch it: the clone is partial, and policykit does not fetch anything",
            root,
        )
