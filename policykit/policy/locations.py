"""Read without checking a policy: the files that it names, and the locations of its parts."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping

from policykit.manifests.node import Span
from policykit.manifests.path import Path
from policykit.namedtuple import NamedTuple
from policykit.policy.files import PROFILE, Files, Reader, relative
from policykit.policy.problems import Problems
from policykit.policy.tree import PolicyFile, SourcedValue, find, location, plain
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


class PolicyLocations(NamedTuple):
    """The files of one policy, merged."""

    file: str
    """The policy's own path, as shown to users."""
    tree: SourcedValue
    sources: Mapping[str, PolicyFile]

    @property
    def files(self) -> list[str]:
        """The files that `at` may point to: the policy's own, and those it extends."""
        return [name for name in self.sources if not name.startswith(PROFILE)]

    def at(self, path: Path, key: bool) -> tuple[str, Span]:
        """File and location of the value at a path, or of its nearest existing parent.

        A value of a bundled profile is located where a file extends the profile. `key`: locate the key.
        """
        file, found = location(self.tree, path, key=key)
        if not file.startswith(PROFILE):
            return file, found
        return next(self._extending(file), (self.file, self.sources[self.file].root.location(("extends",))))

    def own(self, path: Path) -> bool:
        """Whether the policy's own file sets the value at a path."""
        found = find(self.tree, path)
        return found is not None and found.source.name == self.file

    def _extending(self, profile: str) -> Iterator[tuple[str, Span]]:
        for source in self.sources.values():
            listed = source.root.data.get("extends")
            if not source.name.startswith(PROFILE) and isinstance(listed, list) and profile in listed:
                yield source.name, source.root.location(("extends", listed.index(profile)))


def policy_locations(file: str, read: Reader) -> PolicyLocations | None:
    """The locations of a policy compiled from this file; None if it is no longer a policy.

    Raises SourceError if the file cannot be read.
    """
    files = Files(read, Problems())
    tree = files.resolve(file)
    return PolicyLocations(file, tree, files.sources) if tree is not None else None
