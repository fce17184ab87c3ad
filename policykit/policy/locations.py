"""Locations of the parts of a policy; its files are read again only when a location is needed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from policykit.manifests.document import span
from policykit.manifests.node import Span
from policykit.manifests.path import Path
from policykit.namedtuple import NamedTuple
from policykit.policy.files import PROFILE, Files, Reader
from policykit.policy.problems import Problems
from policykit.policy.tree import Source, SourcedValue, find, location


class PolicyLocations(NamedTuple):
    """The files of one policy, merged."""

    file: str
    """The policy's own path, as shown to users."""
    tree: SourcedValue
    sources: Mapping[str, Source]

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
        return next(self._extending(file), (self.file, span(self.sources[self.file].root, ("extends",))))

    def own(self, path: Path) -> bool:
        """Whether the policy's own file sets the value at a path."""
        found = find(self.tree, path)
        return found is not None and found.source.name == self.file

    def _extending(self, profile: str) -> Iterator[tuple[str, Span]]:
        for source in self.sources.values():
            listed = source.root.data.get("extends")
            if not source.name.startswith(PROFILE) and isinstance(listed, list) and profile in listed:
                yield source.name, span(source.root, ("extends", listed.index(profile)))


def policy_locations(file: str, read: Reader) -> PolicyLocations | None:
    """The locations of a policy compiled from this file; None if it is no longer a policy.

    Raises SourceError if the file cannot be read.
    """
    files = Files(read, Problems())
    tree = files.resolve(file)
    return PolicyLocations(file, tree, files.sources) if tree is not None else None
