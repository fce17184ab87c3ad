"""Builds the workspace of a run from what a command line asks for."""

from __future__ import annotations

import os

from policykit.errors import Failures
from policykit.linter.member import STDIN
from policykit.linter.unit import policies_of_files
from policykit.linter.workspace import Workspace
from policykit.namedtuple import NamedTuple
from policykit.workspace.linting.baselines import baselines_of
from policykit.workspace.linting.files import Files, Reader, ScopeFiles, file_of, files_of
from policykit.workspace.linting.policies import OtherPolicies, Policies, policies_of
from policykit.workspace.linting.request import Request
from policykit.workspace.linting.settings import SettingsTable
from policykit.workspace.linting.units import units_of
from policykit.workspace.scopes import kustomization_root


class WorkspaceNotes(NamedTuple):
    """What to report about a workspace besides findings."""

    failures: tuple[str, ...] = ()
    """Why something could not be linted: the run fails."""
    elsewhere: tuple[str, ...] = ()
    """Links to folders outside the boundary, which are not followed."""
    without_policy: int = 0
    """Files that no policy applies to."""
    given: bytes | None = None
    """Standard input; None: it was not read."""
    sources: tuple[str, ...] = ()
    """The policy or settings file of each setting; empty: there is none."""
    notices: tuple[str, ...] = ()
    """What is judged otherwise than it is applied."""
    excludes: bool = False
    """Settings exclude files."""
    policy_notices: tuple[str, ...] = ()
    """About the policies of the run."""
    since: tuple[str, ...] = ()
    """About an earlier revision that the run is compared with."""


class OpenResult(NamedTuple):
    """A workspace with its notes."""

    workspace: Workspace
    notes: WorkspaceNotes


def open_workspace(request: Request) -> OpenResult:
    """The files that the arguments name, with the policies, builds, baselines and changes that their
    findings depend on. What cannot be linted is in the notes.

    Raises UsageError and SourceError for unusable arguments and options.
    """
    failures = Failures()
    table = SettingsTable(request, failures)
    files = files_of(request, table, failures)
    builds = units_of(request, table, files, failures)
    policies = policies_of(builds.members, table, failures)
    read = Reader(files.given, builds.texts)
    scope_files = ScopeFiles(request, table, files._replace(members=builds.members), builds.around)
    other_files = (*builds.other_files, *policies.other_files)
    workspace = Workspace(
        builds.members,
        table.settings,
        read,
        scope_files.of_scope,
        scope_files.of_policy,
        files.sizes,
        policies.policies,
        builds.built,
        baselines_of(request, builds.members, other_files, failures),
        failed_builds=builds.wrong,
        not_judged=builds.not_judged,
        completed=KustomizedFiles(builds.certain),
        other_policy=OtherPolicies(table),
        incomplete=builds.incomplete,
    )
    users = {member.path: (member.setting,) for member in builds.members} | {**policies_of_files(workspace)}
    reached = {path for path, own in users.items() if any(table.settings[number].cluster for number in own)}
    without = sum(path not in reached for path in files.without_policy)
    notes = _notes(files, table, failures, without)
    return OpenResult(workspace, notes._replace(notices=builds.notices))


def open_text(path: str, request: Request, *, whole: bool) -> OpenResult:
    """The workspace of a file that is open in an editor; `whole`: with its scope and policy."""
    failures = Failures()
    table = SettingsTable(request, failures)
    files = file_of(path, request, table, whole=whole)
    policies = policies_of(files.members, table, failures) if whole else Policies()
    scope_files = ScopeFiles(request, table, files)
    workspace = Workspace(
        files.members,
        table.settings,
        Reader(),
        scope_files.of_scope,
        scope_files.of_policy,
        policies=policies.policies,
        completed=KustomizedFiles(),
    )
    return OpenResult(workspace, _notes(files, table, failures, len(files.without_policy)))


class KustomizedFiles:
    """Files with objects that a kustomization adds to. Nothing is read if no parent folder has one."""

    def __init__(self, failed: frozenset[str] = frozenset()) -> None:
        """`failed`: source files of kustomizations that fail to build and so add nothing; links resolved."""
        self._failed = failed

    def __call__(self, file: str) -> bool:
        if file == STDIN or not kustomization_root(os.path.dirname(os.path.abspath(file))):
            return False
        from policykit.workspace.kustomizations import is_completed

        return os.path.realpath(file) not in self._failed and is_completed(file)


def _notes(files: Files, table: SettingsTable, failures: Failures, without_policy: int) -> WorkspaceNotes:
    return WorkspaceNotes(
        tuple(failures),
        files.elsewhere,
        without_policy,
        files.given,
        tuple(table.sources),
        excludes=table.excludes,
        policy_notices=tuple(table.notices),
    )
