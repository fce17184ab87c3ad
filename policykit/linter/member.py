"""A file or build of a run."""

from __future__ import annotations

from policykit.namedtuple import NamedTuple

TEXT = "text"
"""Only the text of the file is linted: its objects are linted as kustomize builds them."""
OBJECTS = "objects"
"""Only the objects are linted, which come from a build: their text is linted in the source files."""


STDIN = "-"
"""The path with which standard input is opened."""


class Member(NamedTuple):
    """A file of the run."""

    path: str
    """As reported."""
    file: str
    """As opened."""
    scope: str
    """Cross-document rules compare the files of one scope; empty: the file is in no scope."""
    setting: int
    """Index into the run's settings."""
    partial: bool = False
    """Whether its objects are incomplete: patches, or objects that an unbuilt kustomization adds to."""
    namespace: str = ""
    """Namespace of its objects that set none; empty: that of the setting."""
    only: str = ""
    """TEXT or OBJECTS: the part that is linted; empty: both."""

    components: tuple[str, ...] = ()
    """Workload kinds whose generated components a kustomization applies to it."""

    @property
    def is_built(self) -> bool:
        """Whether it represents the objects of a build."""
        return self.only == OBJECTS
