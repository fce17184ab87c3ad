"""Builds the workspace of a run from the command line."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from policykit.cli.linting.files import Files, Reader, ScopeFiles, file_of, files_of
from policykit.cli.linting.new_findings import baselines_of
from policykit.cli.linting.policies import OtherPolicies, Policies, policies_of
from policykit.cli.linting.request import STDIN, Request
from policykit.cli.linting.settings import SettingsTable
from policykit.cli.linting.units import units_of
from policykit.errors import Failures
from policykit.linter.unit import policies_of_files
from policykit.linter.workspace import Workspace
from policykit.workspace.scopes import kustomization_root

if TYPE_CHECKING:
    from policykit.linter.builds.kustomization import BuiltKustomization


class WorkspaceNotes(NamedTuple):
    """What to report about a workspace besides findings."""

    failures: tuple[str, ...] = ()
    """Why something could not be linted: the run fails."""
    elsewhere: tuple[str, ...] = ()
    """Links to folders outside the boundary, which are not followed."""
    without_policy: int = 0
    """Files that no policy applies to."""
    not_built: tuple[tuple[str, str], ...] = ()
    """(shown folder, reason) of kustomizations that are linted file by file instead."""
    given: bytes | None = None
    """Standard input; None: it was not read."""
    sources: tuple[str, ...] = ()
    """The policy or settings file of each setting; empty: there is none."""
    excludes: bool = False
    """Settings exclude files."""
    not_judged: tuple[tuple[str, str], ...] = ()
    """(shown place, reason) of what policies apply to and nobody here can read."""
    notices: tuple[tuple[str, str], ...] = ()
    """(shown place, what is judged differently from how it is applied)."""


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
    changes: Mapping[str, frozenset[int]] | None = None
    if request.since is not None:
        from policykit.cli.linting.new_findings import changes_of

        changes = changes_of(builds.members, read, request.since)
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
        changes,
        completed=KustomizedFiles(builds.certain),
        other_policy=OtherPolicies(table),
        incomplete=builds.incomplete,
    )
    users = {member.path: (member.setting,) for member in builds.members} | {**policies_of_files(workspace)}
    reached = {path for path, own in users.items() if any(table.settings[number].cluster for number in own)}
    without = sum(path not in reached for path in files.without_policy)
    notes = _notes(files, table, failures, builds.not_built, without)
    return OpenResult(workspace, notes._replace(not_judged=builds.not_judged, notices=builds.notices))


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
    return OpenResult(workspace, _notes(files, table, failures, (), len(files.without_policy)))


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


def _notes(
    files: Files,
    table: SettingsTable,
    failures: Failures,
    not_built: tuple[tuple[str, str], ...],
    without_policy: int,
) -> WorkspaceNotes:
    return WorkspaceNotes(
        tuple(failures),
        files.elsewhere,
        without_policy,
        not_built,
        files.given,
        tuple(table.sources),
        table.excludes,
    )


def about_builds(built: Sequence[BuiltKustomization], notes: WorkspaceNotes, *, every: bool) -> list[str]:
    """Messages about what was not judged as it is applied; with `every`, one for each kustomization."""
    lines = [f"policykit: {place}: {notice}" for place, notice in notes.notices]
    if every:
        lines += [f"built {each.shown} with kustomize" for each in built]
        lines += [f"not built {folder}: {why}" for folder, why in notes.not_built]
        return lines + [f"not judged {place}: {why}" for place, why in notes.not_judged]
    return [
        *lines,
        *_summary(notes.not_judged, "is not judged", "places are not judged"),
        *_summary(notes.not_built, "is linted file by file", "kustomizations are linted file by file"),
    ]


def _summary(found: Sequence[tuple[str, str]], one: str, several: str) -> list[str]:
    """One message for all: (shown place, reason)."""
    if not found:
        return []
    place, why = found[0]
    if len(found) == 1:
        return [f"policykit: {place} {one}: {why}"]
    if len({why for _, why in found}) == 1:
        return [f"policykit: {len(found)} {several}: {why}"]
    return [f"policykit: {len(found)} {several}; {place}: {why} (--show-files names the others)"]
