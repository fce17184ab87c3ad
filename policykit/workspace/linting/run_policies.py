"""The policies that a run lints, and files that several policies apply to."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from policykit.errors import Failures, PolicykitError
from policykit.linter.input_file import KUSTOMIZATIONS, InputFile
from policykit.linter.registry import GENERATED_FILE, POLICY
from policykit.linter.workspace import Setting
from policykit.model.severity import Severity
from policykit.namedtuple import NamedTuple
from policykit.workspace import filesystem
from policykit.workspace.command_state import cached
from policykit.workspace.files import relative, repository_root, walk
from policykit.workspace.linting.settings import SettingsTable
from policykit.workspace.policies import is_extended, policy_by_place, reader, shown_as

if TYPE_CHECKING:
    from policykit.linter.rule import DeclaredPolicy, GeneratedFile
    from policykit.linter.workspace import Policy, SharedFile
    from policykit.model.cluster import Cluster
    from policykit.placement.review import Review
    from policykit.workspace.cache.folder import Cache


class Policies(NamedTuple):
    """The policies that a run lints."""

    policies: tuple[Policy, ...] = ()
    other_files: tuple[str, ...] = ()
    """Files outside the run that findings may point into."""


def policies_of(input_files: Sequence[InputFile], table: SettingsTable, failures: Failures) -> Policies:
    """The policies among the input files, or with generated files among them.

    A policy that has generated files but can no longer be generated is a failure of the run.
    """
    found: list[Policy] = []
    other_files: list[str] = []
    for number, (setting, source) in enumerate(zip(table.settings, table.sources, strict=True)):
        cluster = setting.cluster
        if cluster is None or source.startswith("profile:"):
            continue
        near = _nearby(source, cluster)
        paths = {os.path.abspath(m.file): m.path for m in input_files if near(m.file)}
        file = paths.get(os.path.abspath(source), "")
        declared: DeclaredPolicy | None = None
        drifted: tuple[GeneratedFile, ...] = ()
        with failures.collect(source):
            if file and _is_selected(setting, POLICY):
                declared = _declared(source, cluster, paths, other_files)
            if paths and _is_selected(setting, GENERATED_FILE):
                drifted = _drifted(source, cluster, paths, other_files, failures)
        if declared or drifted:
            from policykit.linter.workspace import Policy

            found.append(Policy(number, declared, drifted, file))
    return Policies(tuple(found), tuple(other_files))


def _is_selected(setting: Setting, subject: str) -> bool:
    return not setting.selection.codes.isdisjoint(setting.rules.codes(subject))


def _nearby(source: str, cluster: Cluster) -> Callable[[str], bool]:
    """Whether a file may be the policy or generated from it, by its name: cheap, may say yes too often."""
    file, folder = os.path.basename(source), os.path.basename(cluster.output)
    if folder and folder in os.getcwd():
        return lambda path: True
    return lambda path: path.endswith(file) or bool(folder and folder in path)


def _declared(
    source: str, cluster: Cluster, input_files: Mapping[str, str], other_files: list[str]
) -> DeclaredPolicy | None:
    from policykit.linter.rule import DeclaredPolicy
    from policykit.manifests.node import Span
    from policykit.manifests.path import Path
    from policykit.policy.locations import policy_locations

    locations = policy_locations(shown_as(source), reader(shown_as(source)))
    if locations is None:
        return None
    other_files += [file for file in locations.files if os.path.abspath(file) not in input_files]

    def at(path: Path, key: bool) -> tuple[str, Span]:
        file, span = locations.at(path, key)
        return input_files.get(os.path.abspath(file), file), span

    return DeclaredPolicy(cluster, at, locations.own, lambda: is_extended(source))


def _drifted(
    source: str, cluster: Cluster, input_files: Mapping[str, str], other_files: list[str], failures: Failures
) -> tuple[GeneratedFile, ...]:
    """Generated files that are out of date: all of them if the policy is linted, else those of the run."""
    from policykit.linter.rule import GeneratedFile
    from policykit.workspace.generated_files import committed

    wanted = None if os.path.abspath(source) in input_files else input_files
    plan = None
    with failures.collect(shown_as(source)):
        plan = committed(source, cluster, wanted)
    found = []
    for path in sorted([*plan.different, *plan.orphaned]) if plan else ():
        assert plan is not None
        place = os.path.join(plan.folder, path)
        reported = input_files.get(os.path.abspath(place), place if wanted is None else "")
        if reported:
            found.append(
                GeneratedFile(reported, shown_as(source), plan.found.ours[path], plan.files.get(path))
            )
    other_files += [each.path for each in found]
    return tuple(found)


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
        from policykit.workspace.policies import cluster_of

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

    root = repository_root(os.path.dirname(filesystem.realpath(path)))
    users = _users(root).get(filesystem.realpath(path), {}) if root else {}
    own = source if source.startswith("profile:") else os.path.abspath(source)
    overlay = users.get(own, "")
    return [
        SharedFile(policy, shown_as(policy), overlay and shown_as(overlay))
        for policy in sorted(users)
        if policy != own
    ]


def overlays_of(path: str) -> list[str]:
    """Kustomizations that use a file, as shown: one for each policy; none if a policy has none of its own."""
    root = repository_root(os.path.dirname(filesystem.realpath(path)))
    users = _users(root).get(filesystem.realpath(path), {}) if root else {}
    return sorted({relative(overlay) for overlay in users.values()}) if all(users.values()) else []


@cached
def _users(root: str) -> dict[str, dict[str, str]]:
    """Real path of each file that kustomizations apply, with the policies of their folders, each with the
    first of its kustomizations."""
    from policykit.workspace.gitops.clusters import repository
    from policykit.workspace.kustomization_entries import NotHereError
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
    applied = repository(root)
    for policy, contents in applied.contents.items():
        trees = [unit.tree for _, each in contents for unit in each.units if not unit.file]
        for tree in trees:
            # What Flux applies is first in a tree, and people write patches into kustomizations.
            own = [
                each.file for each in tree.every() if applied.users.get(each.file, frozenset()) == {policy}
            ]
            own.sort(key=lambda file: os.path.basename(file) not in KUSTOMIZATIONS)
            for file in tree.looked_at() if own else ():
                found.setdefault(file, {}).setdefault(policy, own[0])
    for file, policies in applied.users.items():
        for policy in policies:
            found.setdefault(file, {}).setdefault(policy, "")
    return found
