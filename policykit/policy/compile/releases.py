"""Releases of systems that a policy states, and the version of policykit that it is pinned to."""

from __future__ import annotations

import re

from policykit.errors import PolicykitError
from policykit.manifests.path import Path
from policykit.policy.compile.draft import Draft
from policykit.targets import target_of

_VERSION = re.compile(r"v?([0-9]{1,9})\.([0-9]{1,9})(?:\.([0-9]{1,9}))?(?:[-+.][0-9A-Za-z.+-]+)?\Z")
_CLAUSE = re.compile(r"\s*(>=|<=|==|!=|~=|>|<)\s*([0-9]{1,9}(?:\.[0-9]{1,9})*)\s*\Z")

Release = tuple[int, ...]


def release(text: str) -> Release | None:
    """(1, 15, 1) of "1.15.1" or "v1.15"; None if it is not a version."""
    match = _VERSION.match(text)
    return tuple(int(part) for part in match.groups(default="0")) if match else None


def clauses(pin: str) -> list[tuple[str, Release]] | None:
    """(operator, release) of each clause of ">=0.3,<0.4"; None if a clause is invalid."""
    found = []
    for clause in pin.split(","):
        match = _CLAUSE.match(clause)
        if not match:
            return None
        found.append((match[1], tuple(int(part) for part in match[2].split("."))))
    return found


def satisfies(version: str, pin: str) -> bool:
    """Whether a version satisfies every clause; False for an invalid range."""
    have, wanted = release(version), clauses(pin)
    return have is not None and wanted is not None and all(_meets(have, *clause) for clause in wanted)


def _meets(have: Release, operator: str, wanted: Release) -> bool:
    size = max(len(have), len(wanted))
    left, right = (part + (0,) * (size - len(part)) for part in (have, wanted))
    if operator == "~=":
        # ~=0.3.1 means at least that, and of the same 0.3.
        same = max(len(wanted) - 1, 1)
        return left >= right and left[:same] == right[:same]
    return {
        ">=": left >= right,
        "<=": left <= right,
        ">": left > right,
        "<": left < right,
        "==": left == right,
        "!=": left != right,
    }[operator]


def judged_release(draft: Draft, path: Path, target_name: str, text: str) -> str:
    """The release at a path as everything else reads it: as stated if it is known, else the nearest.

    A notice says so; a text that is not a release is an error, and empty here.
    """
    target = target_of(target_name)
    known = target.releases.load() if target and target.releases else None
    if known is None or not text:
        return text
    try:
        notice = known.notice(text)
    except PolicykitError as error:
        draft.problems.error(path, error.message, error.hint)
        return ""
    if not notice:
        return text.removeprefix("v")
    draft.problems.notice(path, notice, "`policykit versions` lists the releases that are known")
    return str(known.parse(text))
