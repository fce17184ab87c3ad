"""Files that kustomizations list: kustomize reads them before the API server does."""

from __future__ import annotations

import os

from policykit.linter.input_file import STDIN
from policykit.manifests.shape import texts
from policykit.workspace import filesystem, safe_paths
from policykit.workspace.command_state import cached
from policykit.workspace.files import repository_files
from policykit.workspace.kustomization_entries import first_document
from policykit.workspace.scopes import kustomization, patch_files


def is_listed(path: str) -> bool:
    """Whether a kustomization within the boundary of a file lists it, as a resource or a patch."""
    return path != STDIN and filesystem.realpath(path) in _listed(safe_paths.root_of(path))


@cached
def _listed(limit: str) -> frozenset[str]:
    """Real paths of all entries of the kustomizations within a boundary."""
    found: set[str] = set()
    for folder in sorted({os.path.dirname(path) for path in repository_files(limit)}):
        file = kustomization(folder)
        if not file or not safe_paths.contains(limit, filesystem.realpath(file)):
            continue
        listed = texts(first_document(file).get("resources"))
        names = [os.path.join(folder, each.replace("\0", "")) for each in listed]
        found.update(map(filesystem.realpath, [*names, *patch_files(folder)]))
    return frozenset(found)
