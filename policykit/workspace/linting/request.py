"""What a command line asks to be linted, and the date of the run."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence

from policykit.errors import UsageError
from policykit.linter.input_file import STDIN
from policykit.namedtuple import NamedTuple
from policykit.workspace.cache.folder import NO_CACHE, Cache

_TODAY = "POLICYKIT_TODAY"


class Request(NamedTuple):
    """Paths, and the options that decide how the files there are linted."""

    paths: Sequence[str] = ()
    policies: Sequence[str] = ()
    """Empty: those of the repository, by what they apply to."""
    select: Sequence[str] = ()
    ignore: Sequence[str] = ()
    namespace: str = ""
    timed: bool = False
    crds: Sequence[str] = ()
    """Files and folders with CustomResourceDefinitions."""
    preset: str = ""
    """Empty: that of the settings."""
    force_exclude: bool = False
    stdin_filename: str = ""
    kustomize: bool = True
    """Lint kustomizations as kustomize builds them."""
    baseline: str = ""
    """Empty: the nearest baseline of each file."""
    no_baseline: bool = False
    since: str | None = None
    """Report only findings that this git revision did not have."""
    whole: tuple[str, ...] = ()
    """Files whose findings are all reported nevertheless."""
    cache: Cache = NO_CACHE
    helm: bool = True
    """Render charts with helm."""
    max_builds: int = 10_000
    """Builds of kustomizations and charts beyond these are not made."""
    max_units: int = 200_000
    """Files that several policies apply as they are written count once for each; more are not judged."""
    build_seconds: float = 600
    """No build begins after this time."""
    only_applied: bool = False
    """Named policies judge what their clusters apply, even if only objects of Flux or Argo CD say it."""

    @property
    def named(self) -> list[str]:
        """The paths without standard input."""
        return [path for path in self.paths if path != STDIN]


def today() -> str:
    """YYYY-MM-DD from the environment, else today in UTC. Raises UsageError for an invalid date."""
    given = os.environ.get(_TODAY, "")
    if given:
        from policykit.linter.suppressions import is_day

        if not is_day(given):
            raise UsageError(f"{_TODAY} is {given!r}, not a valid date", "write it as 2030-12-31")
    return given or time.strftime("%Y-%m-%d", time.gmtime())
