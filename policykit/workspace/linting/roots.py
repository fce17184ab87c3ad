"""The repositories of a run, and paths as seen from their roots."""

from __future__ import annotations

import os
from collections.abc import Sequence

from policykit.linter.baseline import Locate
from policykit.linter.input_file import STDIN, InputFile
from policykit.workspace import filesystem
from policykit.workspace.files import repository_root
from policykit.workspace.git import top_of
from policykit.workspace.safe_paths import is_within


def repositories(input_files: Sequence[InputFile]) -> dict[str, list[str]]:
    """The outermost repositories of the input files, each with all of theirs in it."""
    folders = {os.path.dirname(os.path.abspath(one.file)) for one in input_files if one.file != STDIN}
    roots = {repository_root(folder) or folder for folder in folders}
    tops = sorted({top_of(root) for root in roots}, key=len)
    found: dict[str, list[str]] = {}
    for top in tops:
        root = next((root for root in found if is_within(top, root)), top)
        found.setdefault(root, []).append(top)
    return found


def from_roots(roots: Sequence[str]) -> Locate:
    """Reported paths as seen from the root that they are in."""
    here = os.getcwd()
    folders: dict[str, str | None] = {}

    def located(folder: str) -> str | None:
        """A folder as seen from its root, with `/` at the end; None: it is in none."""
        real = filesystem.realpath(os.path.join(here, folder))
        root = next((root for root in roots if is_within(real, root)), None)
        return (
            None
            if root is None
            else f"{os.path.relpath(real, root)}/".replace(os.sep, "/").removeprefix("./")
        )

    def locate(path: str) -> str:
        above, slash, name = path.rpartition(os.sep)
        folder = above or slash
        if name in ("", os.curdir, os.pardir):
            folder, name = os.path.split(os.path.abspath(os.path.join(here, path)))
        if folder not in folders:
            folders[folder] = located(folder)
        start = folders[folder]
        return path if start is None else start + name

    return locate
