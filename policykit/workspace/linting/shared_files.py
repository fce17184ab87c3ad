"""Files that several policies apply to: what is right for one cluster may be wrong for another."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from policykit.workspace.disk import cached
from policykit.workspace.files import relative, repository_root, walk
from policykit.workspace.linting.settings import SettingsTable
from policykit.workspace.policies import policy_by_place, shown_as
from policykit.workspace.scopes import KUSTOMIZATIONS

if TYPE_CHECKING:
    from policykit.linter.workspace import SharedFile


class OtherPolicies:
    """Other policies of the files of a run."""

    def __init__(self, table: SettingsTable) -> None:
        self._table = table

    def __call__(self, path: str, setting: int) -> SharedFile | None:
        """A policy, other than that of the setting, whose kustomizations use a file; None: there is none."""
        return next(iter(shared_with(path, self._table.sources[setting])), None)


def shared_with(path: str, source: str) -> list[SharedFile]:
    """The policies, other than the one of `source`, whose kustomizations use a file. Kustomizations are
    read on first use."""
    from policykit.linter.workspace import SharedFile

    root = repository_root(os.path.dirname(os.path.realpath(path)))
    users = _users(root).get(os.path.realpath(path), {}) if root else {}
    own = source if source.startswith("profile:") else os.path.abspath(source)
    overlay = users.get(own, "")
    return [
        SharedFile(policy, shown_as(policy), overlay and shown_as(overlay))
        for policy in sorted(users)
        if policy != own
    ]


def overlays_of(path: str) -> list[str]:
    """Kustomizations that use a file, as shown: one for each policy."""
    root = repository_root(os.path.dirname(os.path.realpath(path)))
    users = _users(root).get(os.path.realpath(path), {}) if root else {}
    return sorted({relative(overlay) for overlay in users.values() if overlay})


@cached
def _users(root: str) -> dict[str, dict[str, str]]:
    """Real path of each file that kustomizations apply, with the policies of their folders, each with the
    first of its kustomizations."""
    from policykit.workspace.clusters import repository
    from policykit.workspace.entries import NotHereError
    from policykit.workspace.kustomizations import is_root, tree_of

    found: dict[str, dict[str, str]] = {}
    for path in sorted(walk(root)):
        folder, name = os.path.split(path)
        policy = policy_by_place(folder) if name in KUSTOMIZATIONS else ""
        if not policy or not is_root(folder):
            continue
        try:
            tree = tree_of(folder)
        except NotHereError:
            continue
        for file in tree.looked_at():
            found.setdefault(file, {}).setdefault(os.path.abspath(policy), os.path.abspath(path))
    for file, policies in repository(root).users.items():
        for policy in policies:
            found.setdefault(file, {}).setdefault(policy, "")
    return found
