"""Which folder is the cache, and where it must not stand: in files that somebody else may have committed."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping

from policykit.workspace.files import ancestors

VARIABLE = "POLICYKIT_CACHE_DIR"
"""Names the folder; else it is `policykit` in XDG_CACHE_HOME or ~/.cache. Empty: there is no cache."""


def default_folder(environment: Mapping[str, str]) -> str:
    """Absolute, links resolved; empty: there is none."""
    stated = environment.get(VARIABLE)
    if stated is not None:
        return os.path.realpath(stated) if stated else ""
    base = environment.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.realpath(os.path.join(base, "policykit")) if os.path.isabs(base) else ""


def enclosing(folder: str, paths: Iterable[str]) -> str:
    """The checkout that a folder, links resolved, stands in; empty: none.

    That is any git repository, and where there is none the current folder and those of `paths`, which
    the run looks at: what is checked out there is ours by its owner, and yet anybody may have written it.
    """
    above = list(ancestors(folder))
    for here in above:
        if os.path.lexists(os.path.join(here, ".git")):
            return here
    known = {_identity(here): here for here in above}
    known.pop(None, None)
    for place in _folders(paths):
        found = known.get(_identity(place))
        if found and not _holds_home(found):
            return found
    return ""


def _folders(paths: Iterable[str]) -> Iterator[str]:
    """The current folder, and those of paths as they are written and as their links lead."""
    yield os.getcwd()
    seen: set[str] = set()
    for path in paths:
        for place in (path, os.path.realpath(path)):
            here = place if os.path.isdir(place) else os.path.dirname(os.path.abspath(place))
            if here not in seen:
                seen.add(here)
                yield here


def _identity(folder: str) -> tuple[int, int] | None:
    """The same for every name of one folder, whatever its letters or mounts."""
    try:
        state = os.stat(folder)
    except OSError:
        return None
    return state.st_dev, state.st_ino


def _holds_home(folder: str) -> bool:
    """Whether the account's own home is below: that is no checkout. HOME may be set to anything."""
    try:
        import pwd

        home = os.path.realpath(pwd.getpwuid(os.getuid()).pw_dir)
    except (ImportError, KeyError):
        return False
    return folder in ancestors(home)
