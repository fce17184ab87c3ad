"""Generated files of a repository whose policy is gone, and policies that share a name."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence

from policykit.errors import SourceError
from policykit.generator.header import owner
from policykit.workspace import boundary
from policykit.workspace.files import walk
from policykit.workspace.policies import policy_names

_HEADER = 400
"""Bytes that contain the header of a generated file."""


def abandoned_folders(root: str, outputs: Mapping[str, str], only: str = "") -> Iterator[SourceError]:
    """What is wrong with each folder of generated files that is not the output of a policy any more.

    `outputs`: real folders that policies of the repository write to, with their names; `only`: the name of
    one policy to look for. Raises SourceError for a file that cannot be read.
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
        folder = os.path.commonpath(folders)
        what = "which now writes elsewhere" if name in known else "which is gone"
        shown = os.path.relpath(folder)
        yield SourceError(f"was generated from policy {name}, {what}", _advice(name, shown, outputs), shown)


def _advice(name: str, shown: str, outputs: Mapping[str, str]) -> str:
    """What to do with a folder: move it to where its policy writes, if nothing is there, else delete it."""
    empty = {owner: folder for folder, owner in outputs.items() if owner and not os.path.lexists(folder)}
    delete = f"delete it: `git rm -r {shown}`"
    if name in empty:
        return f"move it: `git mv {shown} {os.path.relpath(empty[name])}`"
    if len(empty) != 1:
        return delete
    ((new, folder),) = empty.items()
    return (
        f"if {name} was renamed to {new}, move it: `git mv {shown} {os.path.relpath(folder)}`; else {delete}"
    )


def same_names(names: Sequence[tuple[str, str]]) -> Iterator[SourceError]:
    """What is wrong with policies of one `metadata.name`; `names` has the file and the name of each."""
    first: dict[str, str] = {}
    for path, name in names:
        if name in first:
            message = f"metadata.name {name} is also that of {os.path.relpath(first[name])}"
            yield SourceError(message, "one policy is one cluster: give each its own name", path)
        first.setdefault(name, path)
