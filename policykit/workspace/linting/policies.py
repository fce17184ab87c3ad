"""The policies that a run lints, themselves or their generated files, and those that share a file."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from policykit.errors import Failures
from policykit.linter.member import Member
from policykit.linter.registry import GENERATED_FILE, POLICY
from policykit.linter.workspace import Setting
from policykit.namedtuple import NamedTuple
from policykit.workspace.linting.settings import SettingsTable
from policykit.workspace.policies import is_extended, reader, shown_as

if TYPE_CHECKING:
    from policykit.linter.subjects import DeclaredPolicy, GeneratedFile
    from policykit.linter.workspace import Policy
    from policykit.model.cluster import Cluster


class Policies(NamedTuple):
    """The policies that a run lints."""

    policies: tuple[Policy, ...] = ()
    other_files: tuple[str, ...] = ()
    """Files outside the run that findings may point into."""


def policies_of(members: Sequence[Member], table: SettingsTable, failures: Failures) -> Policies:
    """The policies among the members, or with generated files among them.

    A policy that has generated files but can no longer be generated is a failure of the run.
    """
    found: list[Policy] = []
    other_files: list[str] = []
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
    source: str, cluster: Cluster, members: Mapping[str, str], other_files: list[str]
) -> DeclaredPolicy | None:
    from policykit.linter.subjects import DeclaredPolicy
    from policykit.manifests.node import Span
    from policykit.manifests.path import Path
    from policykit.policy.locations import policy_locations

    locations = policy_locations(shown_as(source), reader(shown_as(source)))
    if locations is None:
        return None
    other_files += [file for file in locations.files if os.path.abspath(file) not in members]

    def at(path: Path, key: bool) -> tuple[str, Span]:
        file, span = locations.at(path, key)
        return members.get(os.path.abspath(file), file), span

    return DeclaredPolicy(cluster, at, locations.own, lambda: is_extended(source))


def _drifted(
    source: str, cluster: Cluster, members: Mapping[str, str], other_files: list[str], failures: Failures
) -> tuple[GeneratedFile, ...]:
    """Generated files that are out of date: all of them if the policy is linted, else those of the run."""
    from policykit.linter.subjects import GeneratedFile
    from policykit.workspace.generated_files import committed

    wanted = None if os.path.abspath(source) in members else members
    plan = None
    with failures.collect(shown_as(source)):
        plan = committed(source, cluster, wanted)
    found = []
    for path in sorted([*plan.different, *plan.orphaned]) if plan else ():
        assert plan is not None
        place = os.path.join(plan.folder, path)
        reported = members.get(os.path.abspath(place), place if wanted is None else "")
        if reported:
            found.append(
                GeneratedFile(reported, shown_as(source), plan.found.ours[path], plan.files.get(path))
            )
    other_files += [each.path for each in found]
    return tuple(found)
