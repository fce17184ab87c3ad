"""What a command line asks to be linted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from policykit.workspace.cache.folder import NO_CACHE, Cache

STDIN = "-"


class Request(NamedTuple):
    """Paths, and what judges the files there."""

    paths: Sequence[str] = ()
    policy: str = ""
    """Empty: the nearest of each file."""
    select: Sequence[str] = ()
    ignore: Sequence[str] = ()
    namespace: str = ""
    timed: bool = False
    crds: Sequence[str] = ()
    """Files and folders with the user's own kinds."""
    preset: str = ""
    """Instead of the settings' own."""
    force_exclude: bool = False
    stdin_filename: str = ""
    kustomize: bool = True
    """Judge kustomizations as they are built."""
    baseline: str = ""
    """One for all files, instead of the nearest of each."""
    no_baseline: bool = False
    since: str | None = None
    """Tell findings only of documents that changed since this git revision."""
    cache: Cache = NO_CACHE

    @property
    def named(self) -> list[str]:
        """The paths that are files and folders."""
        return [path for path in self.paths if path != STDIN]
