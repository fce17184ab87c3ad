"""Files that kustomizations of several policies use: a fix for one cluster may be wrong for another."""

from __future__ import annotations

import os

from policykit.cli.linting.settings import SettingsTable
from policykit.cli.policy import shown_as
from policykit.workspace.files import repository_root, walk
from policykit.workspace.policies import nearest_policy
from policykit.workspace.scopes import KUSTOMIZATIONS


class OtherPolicies:
    """The policies that build files of a repository; nothing is read before somebody asks."""

    def __init__(self, table: SettingsTable) -> None:
        self._table = table
        self._users: dict[str, dict[str, set[str]]] = {}

    def __call__(self, path: str, setting: int) -> str:
        """Another policy than that of a setting, as people read it, whose kustomizations use a file; empty:
        there is none.
        """
        file = os.path.realpath(path)
        root = repository_root(os.path.dirname(file))
        if not root:
            return ""
        if root not in self._users:
            self._users[root] = _users(root)
        source = self._table.sources[setting]
        own = source if source.startswith("profile:") else os.path.abspath(source)
        return next(map(shown_as, sorted(self._users[root].get(file, set()) - {own})), "")


def _users(root: str) -> dict[str, set[str]]:
    """Real path of each file that kustomizations apply, to the policies of their folders."""
    from policykit.workspace.kustomizations import NotHereError, is_root, tree_of

    found: dict[str, set[str]] = {}
    for path in walk(root):
        folder, name = os.path.split(path)
        policy = nearest_policy(folder) if name in KUSTOMIZATIONS else ""
        if not policy or not is_root(folder):
            continue
        try:
            tree = tree_of(folder)
        except NotHereError:
            continue
        for file in tree.looked_at():
            found.setdefault(file, set()).add(os.path.abspath(policy))
    return found
