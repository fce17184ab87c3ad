"""What a command line asks to be linted, and the date of the run."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from typing import NamedTuple

from policykit.errors import UsageError
from policykit.workspace.cache.folder import NO_CACHE, Cache

STDIN = "-"
_TODAY = "POLICYKIT_TODAY"


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


def today() -> str:
    """YYYY-MM-DD as the environment says, else today in UTC. Raises UsageError where it is no day."""
    given = os.environ.get(_TODAY, "")
    if given:
        from policykit.linter.suppression_syntax import is_day

        if not is_day(given):
            raise UsageError(f"{_TODAY} is {given!r}, not a valid date", "write it as 2030-12-31")
    return given or time.strftime("%Y-%m-%d", time.gmtime())
