"""The default cache folder, which must not be in a checkout, where others may have committed files."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping

from policykit.workspace.files import ancestors

VARIABLE = "POLICYKIT_CACHE_DIR"
"""Names the cache folder; default: `policykit` in XDG_CACHE_HOME or ~/.cache. Empty: no cache."""


def default_folder(environment: Mapping[str, str]) -> str:
    """Absolute, with links resolved; empty if there is none."""
    stated = environment.get(VARIABLE)
    if stated is not None:
        return os.path.realpath(stated) if stated else ""
    base = environment.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.realpath(os.path.join(base, "policykit")) if os.path.isabs(base) else ""


def enclosing(folder: str, paths: Iterable[str]) -> str:
    """The checkout that contains a folder (links resolved); empty if there is none.

    A checkout is a git repository, else the current folder or a folder of `paths`, which the run
    reads: files there may be owned by the user and yet written by anyone.
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
    """The current folder, and the folders of paths, both as written and with links resolved."""
    yield os.getcwd()
    seen: set[str] = set()
    for path in paths:
        for place in (path, os.path.realpath(path)):
            here = place if os.path.isdir(place) else os.path.dirname(os.path.abspath(place))
            if here not in seen:
                seen.add(here)
                yield here


def _identity(folder: str) -> tuple[int, int] | None:
    """An identity that is equal for every name of one folder, whatever its case or mounts."""
    try:
        state = os.stat(folder)
    except OSError:
        return None
    return state.st_dev, state.st_ino


def _holds_home(folder: str) -> bool:
    """Whether the account's home is inside, so it is not a checkout. HOME may be set to anything."""
    try:
        import pwd

        home = os.path.realpath(pwd.getpwuid(os.getuid()).pw_dir)
    except (ImportError, KeyError):
        return False
    return folder in ancestors(home)
