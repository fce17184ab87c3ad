"""Releases of Volcano, and words that every check of what is written for it shares."""

from __future__ import annotations

from collections.abc import Iterable

from policykit.nearest import nearest

Release = tuple[int, ...]
"""(1, 13) is the first release of that minor, (1, 13, 2) a patch."""

UPGRADE = "remove it or upgrade Volcano"


def release_text(release: Release) -> str:
    return ".".join(map(str, release))


def not_yet(what: str, since: Release, have: Release | None) -> str:
    """The message for something a release lacks; empty if it has it. `have` None: the newest."""
    if have is None or have >= since:
        return ""
    return f"Volcano {release_text(have)} has no {what} (added in {release_text(since)})"


def suggestion(name: str, known: Iterable[str], what: str = "known names", likeness: float = 0.6) -> str:
    """A hint: the most similar known name, else all of them."""
    names = tuple(dict.fromkeys(known))
    near = nearest(name, names, likeness)
    if near:
        return f"did you mean {near}?"
    return f"{what}: {', '.join(sorted(names))}" if names else ""
