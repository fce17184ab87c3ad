"""Loads the workspace of a run from the disk: what a command line asks for, with its baselines."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext

from policykit.errors import Failures, SourceError
from policykit.linter.baseline import BaselineFile, Baselines
from policykit.linter.input_file import STDIN, InputFile
from policykit.linter.scope import LargeFileFacts
from policykit.linter.workspace import Workspace
from policykit.namedtuple import NamedTuple
from policykit.workspace import filesystem
from policykit.workspace.command_state import builds_in_command, handed_over
from policykit.workspace.files import BASELINE, read, repository_root, shown_path, upwards
from policykit.workspace.linting.files import Files, Reader, ScopeFiles, file_of, files_of
from policykit.workspace.linting.request import Request
from policykit.workspace.linting.run_policies import OtherPolicies, Policies, policies_of
from policykit.workspace.linting.settings import SettingsTable
from policykit.workspace.linting.units import Units, units_of
from policykit.workspace.safe_paths import SMALL, is_within
from policykit.workspace.scopes import kustomization_root


def nearest_baselines(paths: Iterable[str]) -> dict[str, str]:
    """Absolute path of the baseline of each file that has one."""
    folders = {path: path[: path.rfind(os.sep) + 1] for path in paths}
    nearest = {folder: nearest_baseline(os.path.abspath(folder)) for folder in set(folders.values())}
    if not any(nearest.values()):
        return {}
    return {path: nearest[folder] for path, folder in folders.items() if nearest[folder]}


def nearest_baseline(folder: str) -> str:
    """Absolute path of the baseline for files in a folder; empty: there is none."""
    paths = (os.path.join(here, BASELINE) for here in upwards(folder))
    return next(filter(filesystem.lexists, paths), "")


def default_place(folder: str) -> str:
    """Path at which the baseline for a folder is written: the nearest one, else in the repository's root."""
    return nearest_baseline(folder) or os.path.join(repository_root(folder) or os.getcwd(), BASELINE)


def load(path: str) -> BaselineFile:
    """Reads a baseline. Raises SourceError if the file cannot be read or is not a baseline."""
    from policykit.linter.baseline import BaselineFile, parse

    absolute = os.path.abspath(path)
    shown = shown_path(absolute)
    try:
        text = read(absolute, most=SMALL).decode("utf-8")
    except UnicodeDecodeError:
        text = ""
    except SourceError as error:
        make = f"check the path, or make one with `policykit baseline -o {shown}`"
        raise SourceError(error.message, make, shown) from None
    return BaselineFile(absolute, shown, text, parse(text, shown))


def baselines_of(
    request: Request, input_files: Sequence[InputFile], other_files: Sequence[str], failures: Failures
) -> Baselines | None:
    """The baselines that apply to files of the run; None: there are none.

    One that cannot be read or is not valid is a failure of the run and accepts nothing. Raises
    SourceError if the command line names it.
    """
    governing = {} if request.no_baseline else _governing(request, input_files, other_files)
    if not governing:
        return None
    files: dict[str, BaselineFile] = {}
    for path in sorted(set(governing.values())):
        with nullcontext() if request.baseline else failures.collect(shown_path(path)):
            files[path] = load(path)
    whole = not failures
    covered = (path for path, file in files.items() if whole and not uncovered(file, request.paths))
    known = {file: path for file, path in governing.items() if path in files}
    return Baselines(files, known, frozenset(covered))


def uncovered(file: BaselineFile, paths: Sequence[str]) -> list[str]:
    """Existing paths that a baseline covers and the arguments do not."""
    given = [os.path.abspath(path) for path in paths if path != STDIN]
    places = [os.path.normpath(os.path.join(file.folder, path)) for path in file.baseline.covers]
    return [
        place
        for place in places
        if filesystem.lexists(place) and not any(is_within(place, path) for path in given)
    ]


def _governing(
    request: Request, input_files: Sequence[InputFile], other_files: Sequence[str]
) -> dict[str, str]:
    """The baseline of each file; a folder that no longer contains manifests still has one."""
    files = [*(input_file.path for input_file in input_files), *other_files]
    files += [os.path.join(path, BASELINE) for path in request.named]
    if request.baseline:
        return dict.fromkeys(files, os.path.abspath(request.baseline))
    return nearest_baselines(files)


class WorkspaceNotes(NamedTuple):
    """What to report about a workspace besides findings."""

    failures: tuple[str, ...] = ()
    """Why something could not be linted: the run fails."""
    elsewhere: tuple[str, ...] = ()
    """Links to folders outside the boundary, which are not followed."""
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
            units.input_files,
            self.table.settings,
            Reader(self.files.given, units.texts, handed_over()),
            sizes=self.files.sizes,
            builds=units.built,
            failed_builds=units.wrong,
            not_judged=units.not_judged,
            incomplete=units.incomplete,
            large_file_facts=_large_file_facts,
        )

    def with_context(self, *, policies: bool = True) -> Workspace:
        """With all that findings depend on; `policies`: those of the run are linted themselves."""
        input_files, failures = self.units.input_files, self.failures
        linted = policies_of(input_files, self.table, failures) if policies else Policies()
        files = self.files._replace(input_files=input_files)
        scope_files = ScopeFiles(self.request, self.table, files, self.units.around)
        other_files = (*self.units.other_files, *linted.other_files)
        return self.workspace()._replace(
            surroundings=scope_files.of_scope,
            unread=scope_files.unread,
            reach=scope_files.of_policy,
            policies=linted.policies,
            without_policy=frozenset(files.without_policy),
            bases=frozenset(files.bases),
            owners=self.units.owners,
            baselines=baselines_of(self.request, input_files, other_files, failures),
            completed=KustomizedFiles(self.units.certain),
            listed=_is_listed,
            has_target_namespace=_has_target_namespace,
            other_policy=OtherPolicies(self.table, self.request.cache),
        )

    def notes(self, workspace: Workspace) -> WorkspaceNotes:
        """What to report besides findings, once the workspace is complete."""
        files, table = self.files, self.table
        return WorkspaceNotes(
            tuple(self.failures),
            files.elsewhere,
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
    builds = builds_in_command()
    builds.cache = request.cache
    builds.left = request.max_builds if request.kustomize else 0
    builds.until = time.monotonic() + request.build_seconds
    failures = Failures()
    table = SettingsTable(request, failures)
    files = find(request, table, failures)
    units = units_of(request, table, files, failures)
    failures += table.broken.lines()
    return _Run(request, table, files, units, failures)


def _is_listed(file: str) -> bool:
    """Imported for few findings."""
    from policykit.workspace.listed_files import is_listed

    return is_listed(file)


def _has_target_namespace(file: str) -> bool:
    """Imported for few findings."""
    from policykit.workspace.gitops.flux import fills_namespace

    return file != STDIN and fills_namespace(file)


class KustomizedFiles:
    """Files with objects that a kustomization adds to. Nothing is read if no parent folder has one."""

    def __init__(self, failed: frozenset[str] = frozenset()) -> None:
        """`failed`: source files of kustomizations that fail to build and so add nothing; links resolved."""
        self._failed = failed

    def __call__(self, file: str) -> bool:
        if file == STDIN or not kustomization_root(os.path.dirname(os.path.abspath(file))):
            return False
        from policykit.workspace.kustomizations import is_completed

        return filesystem.realpath(file) not in self._failed and is_completed(file)


def _large_file_facts(path: str) -> LargeFileFacts:
    from policykit.workspace.cache.large_file_facts import PackedFacts

    return PackedFacts(path)
