"""Generated files of a repository whose policy is gone, and policies that share a name."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from policykit.errors import SourceError
from policykit.generator.bundle import owner
from policykit.workspace import boundary
from policykit.workspace.files import walk
from policykit.workspace.policies import policy_names

_HEADER = 400
"""Bytes that contain the header of a generated file."""


def abandoned_folders(root: str, outputs: Sequence[str], only: str = "") -> Iterator[SourceError]:
    """What is wrong with each folder of generated files that is not the output of a policy any more.

    `outputs`: real folders that the policies of the repository write to; `only`: the name of one policy to
    look for. Raises SourceError for a file that cannot be read.
    """
    found: dict[str, list[str]] = {}
    for path in walk(root):
        real = os.path.realpath(path)
        if any(boundary.within(real, folder) for folder in outputs):
            continue
        name = owner(boundary.read(path, part=_HEADER).decode("utf-8", errors="replace"))
        if name and only in ("", name):
            found.setdefault(name, []).append(os.path.dirname(os.path.abspath(path)))
    known = policy_names(os.path.join(root, "policykit.yaml"), root) if found else frozenset()
    for name, folders in sorted(found.items()):
        shown = os.path.relpath(os.path.commonpath(folders))
        if name in known:
            what = f"was generated from policy {name}, which now writes elsewhere"
        else:
            what = f"was generated from policy {name}, which is gone"
        yield SourceError(what, f"delete it: `git rm -r {shown}`", shown)


def same_names(names: Sequence[tuple[str, str]]) -> Iterator[SourceError]:
    """What is wrong with policies of one `metadata.name`; `names` has the file and the name of each."""
    first: dict[str, str] = {}
    for path, name in names:
        if name in first:
            message = f"metadata.name {name} is also that of {os.path.relpath(first[name])}"
            yield SourceError(message, "one policy is one cluster: give each its own name", path)
        first.setdefault(name, path)
