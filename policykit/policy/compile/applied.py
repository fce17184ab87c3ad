"""Checks what a policy says its cluster applies. The folders are read when manifests are linted."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

from policykit.manifests.path import Path
from policykit.policy.compile.draft import Draft
from policykit.policy.models.policy import AppliedFolder, Applies

_VARIABLE = re.compile(r"[_a-zA-Z][_a-zA-Z0-9]*\Z")


def check_applied(draft: Draft) -> None:
    """Reports paths that are not relative to the policy, and invalid names of variables."""
    stated = draft.policy.applies
    base: Path = ("applies", "folders") if isinstance(stated, Applies) else ("applies",)
    folders = stated.folders if isinstance(stated, Applies) else stated
    for number, each in enumerate(folders or ()):
        _check(draft, (*base, number), each)


def _check(draft: Draft, here: Path, each: AppliedFolder) -> None:
    if not each.path:
        draft.problems.error((*here, "path"), "path is empty", "name a folder; . is the policy's own")
    for path, name in _paths(each, here):
        if posixpath.isabs(name):
            message = f"{name!r} is not relative to the policy"
            draft.problems.error(path, message, "use a relative path")
    for name in each.substitute:
        if not _VARIABLE.match(name):
            message = f"{name!r} is not the name of a variable"
            hint = "use letters, digits and _, and no digit at the start"
            draft.problems.error((*here, "substitute", name), message, hint, key=True)


def _paths(each: AppliedFolder, here: Path) -> Iterator[tuple[Path, str]]:
    """Every path that an entry names."""
    yield (*here, "path"), each.path
    for index, name in enumerate(each.substitute_from):
        yield (*here, "substituteFrom", index), name
    for index, name in enumerate(each.helm.values if each.helm else ()):
        yield (*here, "helm", "values", index), name
