"""Files that several policies apply to: what is right for one cluster may be wrong for another."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING

from policykit.errors import PolicykitError
from policykit.model.severity import Severity
from policykit.workspace.disk import cached
from policykit.workspace.files import relative, repository_root, walk
from policykit.workspace.linting.settings import SettingsTable
from policykit.workspace.policies import policy_by_place, shown_as
from policykit.workspace.scopes import KUSTOMIZATIONS

if TYPE_CHECKING:
    from policykit.linter.workspace import SharedFile
    from policykit.model.cluster import Cluster
    from policykit.placement.review import Review
    from policykit.workspace.cache.folder import Cache


class OtherPolicies:
    """Other policies of the files of a run."""

    def __init__(self, table: SettingsTable, cache: Cache) -> None:
        self._table = table
        self._cache = cache

    def __call__(
        self, path: str, setting: int, texts: Callable[[], tuple[bytes, bytes]]
    ) -> SharedFile | None:
        """A policy, other than that of the setting, whose kustomizations use a file, and for which a fix of
        the file is not right; None: there is none. `texts`: the file before and after it."""
        others = shared_with(path, self._table.sources[setting])
        if not others:
            return None
        raw, fixed = texts()
        return next((other for other in others if not self._suits(raw, fixed, other)), None)

    def _suits(self, raw: bytes, fixed: bytes, other: SharedFile) -> bool:
        from policykit.workspace.compiled_policies import cluster_of

        try:
            return is_right(raw, fixed, cluster_of(other.policy, self._cache))
        except PolicykitError:
            return False  # a policy that cannot be read has been reported


def is_right(raw: bytes, fixed: bytes, cluster: Cluster) -> bool:
    """Whether a change of a file is right under a policy: all its pods land afterwards, where their workload
    kinds may run and wherever they could before, and nothing is found that was not found before."""
    from policykit import api

    before, after = list(api.where(raw, cluster)), list(api.where(fixed, cluster))
    if not after or len(before) != len(after):
        return False
    pairs = zip(before, after, strict=True)
    return all(_is_kept(old, new) for old, new in pairs) and not _problems(fixed, cluster) - _problems(
        raw, cluster
    )


def _is_kept(old: Review, new: Review) -> bool:
    names = {pool.name for pool in new.accepting}
    eligible = None if new.eligible_pools is None else {pool.name for pool in new.eligible_pools}
    return (
        bool(names)
        and names >= {pool.name for pool in old.accepting}
        and (eligible is None or names <= eligible)
        and (old.workload is None or (new.workload and new.workload.name) == old.workload.name)
    )


def _problems(raw: bytes, cluster: Cluster) -> Counter[tuple[str, str]]:
    """Codes and pointers of what lint finds in a text by itself, without advice."""
    from policykit import api

    found = api.lint_texts({"shared.yaml": raw}, cluster, complete=False).findings
    return Counter((one.code, one.pointer) for one in found if one.severity is not Severity.INFO)


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
