"""The files that the builds of a repository's kustomizations read."""

from __future__ import annotations

import os
from collections.abc import Mapping

from policykit.workspace.disk import cached
from policykit.workspace.entries import NotHereError
from policykit.workspace.files import repository_files
from policykit.workspace.kustomizations import files_of, is_root, tree_of
from policykit.workspace.scopes import KUSTOMIZATIONS


@cached
def parts_of(root: str) -> Mapping[str, frozenset[str]]:
    """Folders with kustomizations that can be built on their own, each with the real paths of all files that
    its build reads. Kustomizations with entries that are not here are left out.
    """
    found = {}
    for path in repository_files(root):
        folder, name = os.path.split(path)
        if name in KUSTOMIZATIONS and is_root(folder):
            try:
                found[folder] = frozenset(files_of(tree_of(folder)))
            except NotHereError:
                continue
    return found
