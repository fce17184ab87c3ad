"""The policies that a run looks at: among the linted files, or with generated files among them."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from policykit.cli.linting.settings import SettingsTable
from policykit.cli.policy import shown_as
from policykit.errors import Failures
from policykit.linter.registry import DECLARED, DRIFTED
from policykit.linter.workspace import Member, Setting
from policykit.workspace.files import repository_root, walk
from policykit.workspace.policies import nearest_policy
from policykit.workspace.scopes import KUSTOMIZATIONS

if TYPE_CHECKING:
    from policykit.linter.subjects import DeclaredPolicy, GeneratedFile
    from policykit.linter.workspace import Policy
    from policykit.model.cluster import Cluster


class Policies(NamedTuple):
    """The policies that a run looks at."""

    policies: tuple[Policy, ...] = ()
    beside: tuple[str, ...] = ()
    """Files that are no members, and that findings may stand in."""


def policies_of(members: Sequence[Member], table: SettingsTable, failures: Failures) -> Policies:
    """Where neither a policy nor a file below its `generate.out` is linted, this costs nothing.

    A policy that can no longer be generated, while files of it are there, is a failure of the run.
    """
    found: list[Policy] = []
    beside: list[str] = []
    for number, (setting, source) in enumerate(zip(table.settings, table.sources, strict=True)):
        cluster = setting.cluster
        if cluster is None or source.startswith("profile:"):
            continue
        near = _nearby(source, cluster)
        paths = {os.path.abspath(m.file): m.path for m in members if near(m.file)}
        file = paths.get(os.path.abspath(source), "")
        declared: DeclaredPolicy | None = None
        drifted: tuple[GeneratedFile, ...] = ()
        with failures.collect(source):
            if file and _speaks(setting, DECLARED):
                declared = _declared(source, cluster, paths, beside)
            if paths and _speaks(setting, DRIFTED):
                drifted = _drifted(source, cluster, paths, beside, failures)
        if declared or drifted:
            from policykit.linter.workspace import Policy

            found.append(Policy(number, declared, drifted, file))
    return Policies(tuple(found), tuple(beside))


def _speaks(setting: Setting, subject: str) -> bool:
    return not setting.selection.codes.isdisjoint(setting.rules.codes(subject))


def _nearby(source: str, cluster: Cluster) -> Callable[[str], bool]:
    """Whether a file may be the policy or generated from it; told by names, without the disk."""
    file, folder = os.path.basename(source), os.path.basename(cluster.output)
    if folder and folder in os.getcwd():
        return lambda path: True
    return lambda path: path.endswith(file) or bool(folder and folder in path)


def _declared(
    source: str, cluster: Cluster, members: Mapping[str, str], beside: list[str]
) -> DeclaredPolicy | None:
    from policykit.linter.subjects import DeclaredPolicy
    from policykit.manifests.node import Span
    from policykit.manifests.path import Path
    from policykit.policy.locations import places
    from policykit.workspace.policies import is_extended, reader

    said = places(shown_as(source), reader(shown_as(source)))
    if said is None:
        return None
    beside += [file for file in said.files if os.path.abspath(file) not in members]

    def at(path: Path, key: bool) -> tuple[str, Span]:
        file, span = said.at(path, key)
        return members.get(os.path.abspath(file), file), span

    return DeclaredPolicy(cluster, at, said.own, lambda: is_extended(source))


def _drifted(
    source: str, cluster: Cluster, members: Mapping[str, str], beside: list[str], failures: Failures
) -> tuple[GeneratedFile, ...]:
    """Generated files that are not as they should be: all, where the policy is linted."""
    from policykit.cli.generated_files import committed
    from policykit.linter.subjects import GeneratedFile

    wanted = None if os.path.abspath(source) in members else members
    plan = None
    with failures.collect(shown_as(source)):
        plan = committed(source, cluster, wanted)
    found = []
    for path in sorted([*plan.different, *plan.orphaned]) if plan else ():
        assert plan is not None
        place = os.path.join(plan.folder, path)
        told = members.get(os.path.abspath(place), place if wanted is None else "")
        if told:
            found.append(GeneratedFile(told, shown_as(source), plan.found.ours[path], plan.files.get(path)))
    beside += [each.path for each in found]
    return tuple(found)


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
