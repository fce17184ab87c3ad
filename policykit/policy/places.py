"""Where each part of a policy is said: read from its files again, only where somebody points at it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from policykit.manifests.document import span
from policykit.manifests.node import Span
from policykit.manifests.path import Path
from policykit.policy.files import PROFILE, Files, Reader
from policykit.policy.problems import Problems
from policykit.policy.tree import Said, Source, find, place


class Places(NamedTuple):
    """The files of one policy, merged."""

    file: str
    """The policy itself, as people read it."""
    tree: Said
    sources: Mapping[str, Source]

    @property
    def files(self) -> list[str]:
        """Where `at` may point: the policy's own file, and those it extends."""
        return [name for name in self.sources if not name.startswith(PROFILE)]

    def at(self, path: Path, key: bool) -> tuple[str, Span]:
        """File and place of what the policy says at a path, or of the nearest parent that it says.

        What a bundled profile says is said where a file extends it. `key`: of its key.
        """
        file, found = place(self.tree, path, key=key)
        if not file.startswith(PROFILE):
            return file, found
        return next(self._extending(file), (self.file, span(self.sources[self.file].root, ("extends",))))

    def own(self, path: Path) -> bool:
        """Whether the policy's own file says what stands at a path."""
        said = find(self.tree, path)
        return said is not None and said.source.name == self.file

    def _extending(self, profile: str) -> Iterator[tuple[str, Span]]:
        for source in self.sources.values():
            listed = source.root.data.get("extends")
            if not source.name.startswith(PROFILE) and isinstance(listed, list) and profile in listed:
                yield source.name, span(source.root, ("extends", listed.index(profile)))


def places(file: str, read: Reader) -> Places | None:
    """The places of a policy that was compiled from this file; None: it is no policy any more.

    Raises SourceError where the file cannot be read.
    """
    files = Files(read, Problems())
    tree = files.resolve(file)
    return Places(file, tree, files.sources) if tree is not None else None
