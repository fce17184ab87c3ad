"""A file of a run, and what stands for the objects that a folder builds."""

from __future__ import annotations

from typing import NamedTuple

READ = "read"
"""Of a file only how it is written: its objects are looked at as they are built."""
BUILT = "built"
"""Objects as they are built; how they are written is told of the files they come from."""


class Member(NamedTuple):
    """A file of the run."""

    path: str
    """As reported."""
    file: str
    """As opened."""
    scope: str
    """Files of one scope see each other in cross-document rules; empty: no scope at all."""
    setting: int
    """Index into the run's settings."""
    partial: bool = False
    """A kustomization lists it as a patch, or completes its objects in a way that was not built."""
    namespace: str = ""
    """Where its objects without a namespace stand; empty: where the setting says."""
    look: str = ""
    """READ or BUILT, where it is not looked at as a whole."""

    @property
    def is_built(self) -> bool:
        """Whether it stands for the objects of a build."""
        return self.look == BUILT
