"""Builds the workspace of a run from what a command line asks for."""

from __future__ import annotations

import os
from collections.abc import Callable

from policykit.errors import Failures
from policykit.linter.member import STDIN
from policykit.linter.unit import policies_of_files
from policykit.linter.workspace import Workspace
from policykit.namedtuple import NamedTuple
from policykit.workspace.linting.baselines import baselines_of
from policykit.workspace.linting.files import Files, Reader, ScopeFiles, file_of, files_of
from policykit.workspace.linting.policies import Policies, policies_of
from policykit.workspace.linting.request import Request
from policykit.workspace.linting.settings import SettingsTable
from policykit.workspace.linting.shared_files import OtherPolicies
from policykit.workspace.linting.units import Units, units_of
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


class _Run(NamedTuple):
    """What a request comes to: its files, and the units that they are part of."""

    request: Request
    table: SettingsTable
    files: Files
    units: Units
    failures: Failures

    def workspace(self) -> Workspace:
        """Files and builds alone."""
        units = self.units
        return Workspace(
            units.members,
            self.table.settings,
            Reader(self.files.given, units.texts),
            sizes=self.files.sizes,
            builds=units.built,
            failed_builds=units.wrong,
            not_judged=units.not_judged,
            incomplete=units.incomplete,
        )

    def with_context(self, *, policies: bool = True) -> Workspace:
        """With all that findings depend on; `policies`: those of the run are linted themselves."""
        members, failures = self.units.members, self.failures
        linted = policies_of(members, self.table, failures) if policies else Policies()
        files = self.files._replace(members=members)
        scope_files = ScopeFiles(self.request, self.table, files, self.units.around)
        other_files = (*self.units.other_files, *linted.other_files)
        return self.workspace()._replace(
            surroundings=scope_files.of_scope,
            reach=scope_files.of_policy,
            policies=linted.policies,
            baselines=baselines_of(self.request, members, other_files, failures),
            completed=KustomizedFiles(self.units.certain),
            other_policy=OtherPolicies(self.table, self.request.cache),
        )

    def notes(self, workspace: Workspace) -> WorkspaceNotes:
        """What to report besides findings, once the workspace is complete."""
        files, table = self.files, self.table
        alone = {member.path: (member.setting,) for member in workspace.members}
        users = {**alone, **policies_of_files(workspace)}
        reached = {path for path, own in users.items() if any(table.settings[each].cluster for each in own)}
        return WorkspaceNotes(
            tuple(self.failures),
            files.elsewhere,
            sum(path not in reached for path in files.without_policy),
            files.given,
            tuple(table.sources),
            self.units.notices,
            table.excludes,
            tuple(table.notices),
        )


def open_workspace(request: Request) -> OpenResult:
    """The files that the arguments name, with the policies, builds, baselines and changes that their
    findings depend on. What cannot be linted is in the notes.

    Raises UsageError and SourceError for unusable arguments and options.
    """
    run = _run(request, files_of)
    workspace = run.with_context()
    return OpenResult(workspace, run.notes(workspace))


def open_units(request: Request) -> OpenResult:
    """The files that the arguments name, and the builds that they are part of. Raises as `open_workspace`."""
    run = _run(request, files_of)
    workspace = run.workspace()
    return OpenResult(workspace, run.notes(workspace))


def open_text(path: str, request: Request, *, whole: bool) -> OpenResult:
    """The workspace of a file that is open in an editor; `whole`: with its scope, its policy, and the builds
    that it is part of, by the files on disk."""

    def files(request: Request, table: SettingsTable, failures: Failures) -> Files:
        return file_of(path, request, table, whole=whole)

    run = _run(request if whole else request._replace(kustomize=False), files)
    workspace = run.with_context(policies=whole)
    return OpenResult(workspace, run.notes(workspace))


def _run(request: Request, find: Callable[[Request, SettingsTable, Failures], Files]) -> _Run:
    failures = Failures()
    table = SettingsTable(request, failures)
    files = find(request, table, failures)
    units = units_of(request, table, files, failures)
    failures += table.broken.lines()
    return _Run(request, table, files, units, failures)


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
