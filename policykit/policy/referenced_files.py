"""The files that a policy names, read from its text without checking or compiling it."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

from policykit.namedtuple import NamedTuple
from policykit.policy.files import Files, Reader, relative
from policykit.policy.problems import Problems
from policykit.policy.tree import SourcedValue, find, plain
from policykit.targets import TARGETS


class NamedFiles(NamedTuple):
    """Paths named by a policy, as compiling it resolves them."""

    files: tuple[str, ...]
    """Every file and profile:NAME it is read from, itself first."""
    output: str = ""
    """Folder of `generate.out`."""
    crds: tuple[str, ...] = ()
    """Paths of `lint.crds`."""


class MergedFile(NamedTuple):
    """A file that the configuration of a system is merged into."""

    option: tuple[str, str, str]
    """Where the policy names it."""
    name: str
    """As it is written there."""
    path: str


def named_files(name: str, read: Reader) -> NamedFiles | None:
    """The files named by the policy at a path; None if its text or that of a base is invalid.

    Raises SourceError if a file cannot be read.
    """
    files = Files(read, Problems())
    tree = files.resolve(name)
    if tree is None or not files.complete:
        return None
    for each in merged_files(tree):
        files.read(each.path)
    out, crds = _plain(tree, "generate", "out"), _plain(tree, "lint", "crds")
    if not (isinstance(out, str | None) and isinstance(crds, tuple | None)):
        return None
    return NamedFiles(tuple(files.names), posixpath.normpath(out) if out else "", crds or ())


def merged_files(tree: SourcedValue) -> Iterator[MergedFile]:
    """Files that the configurations of systems are merged into."""
    for target in TARGETS:
        option = ("targets", target.name, target.merged_file)
        stated = find(tree, option) if target.merged_file else None
        if stated is not None and isinstance(stated.value, str) and stated.value:
            yield MergedFile(option, stated.value, relative(stated.source.name, stated.value))


def _plain(tree: SourcedValue, *path: str) -> object:
    found = find(tree, path)
    return None if found is None else plain(found)
