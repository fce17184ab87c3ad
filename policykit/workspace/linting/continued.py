"""Goes on from the last run that was compared with a revision, if only files that are linted have changed."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import NoReturn

from policykit import api
from policykit.errors import Failures, SourceError
from policykit.linter.continued_run import CannotGoOnError, ChangedFile, Knowledge, Revision
from policykit.linter.finding import Report
from policykit.linter.input_file import STDIN, InputFile
from policykit.linter.run import UnitFindings
from policykit.linter.scope import AnyFact, StoredFacts
from policykit.linter.scope_facts import is_folder, shown_scope
from policykit.linter.workspace import EarlierFindings, Options, Workspace
from policykit.namedtuple import NamedTuple
from policykit.workspace import filesystem
from policykit.workspace.cache.folder import NO_CACHE, DamagedError
from policykit.workspace.cache.kept_runs import (
    KeptNotes,
    RunQuestions,
    StoredRun,
    answers_of,
    load_run,
    store_run,
)
from policykit.workspace.cache.results import Results, load_results, sound
from policykit.workspace.cache.revisions import variables
from policykit.workspace.cache.runs import may_be_opened, needed, roots_of
from policykit.workspace.files import real_paths, repository_root
from policykit.workspace.git import state_of
from policykit.workspace.gitops.controller_files import has_controllers, names_controller, raw_of
from policykit.workspace.linting.committed_files import other_contents
from policykit.workspace.linting.files import Files, Reader, ScopeFiles
from policykit.workspace.linting.loader import KustomizedFiles, OpenResult, WorkspaceNotes
from policykit.workspace.linting.request import Request, today
from policykit.workspace.linting.roots import from_roots, repositories
from policykit.workspace.linting.settings import SettingsTable
from policykit.workspace.safe_paths import is_within

_MOST = 50
"""Most changed files: with more, judging all of them takes not much longer."""


class ContinuedRun(NamedTuple):
    """A run that went on from a kept one."""

    opened: OpenResult
    report: Report


def continued(request: Request, options: Options) -> ContinuedRun | None:
    """The run that a request asks for, as it goes on from the last one; None: everything has to be judged."""
    root = repository_root(os.getcwd())
    if not root or not request.cache.folder or request.timed or options.fixes or STDIN in request.paths:
        return None
    stored = load_run(request.cache, _about(request))
    revision = state_of(request.since or "", root) if stored else b""
    if stored is None or not revision:
        return None
    try:
        return _continued(request, options, root, stored, revision)
    except _CANNOT:
        return None


_CANNOT = (CannotGoOnError, DamagedError, SourceError, LookupError, ValueError, OSError)
"""What the cache says has the right types, but may contradict itself or the files."""


def _continued(
    request: Request, options: Options, root: str, stored: StoredRun, revision: bytes
) -> ContinuedRun | None:
    kept, asked = stored.run, stored.asked
    if not _is_allowed(request, root, stored):
        return None
    numbers = asked.changed()
    if numbers is None or len(numbers) > _MOST:
        return None
    same = revision == asked.revision
    others = {} if same else _in_commit(root, revision, asked)
    if others is None or len(others) > _MOST:
        return None
    files = {number: kept.input_files[number].file for number in {*numbers, *others}}
    if [*real_paths(files.values())] != [asked.places[number] for number in files]:
        return None
    if any(map(names_controller, chain(others.values(), map(raw_of, files.values())))):
        return None
    failures = Failures()
    table = SettingsTable(request, failures)
    for folder in filter(None, kept.folders):
        table.of(folder)
    if failures or table.broken.lines() or tuple(table.sources) != kept.sources:
        return None
    results = load_results(request.cache)
    knowledge = Knowledge(kept, _Facts(stored, results), stored.number, stored.subjects)
    changed = [_changed(stored, results, number) for number in numbers]
    then = None
    if not same:
        contents = {os.path.abspath(files[number]): raw for number, raw in others.items()}
        then = Revision(Reader(contents=contents), [_changed(stored, results, n) for n in others])
    workspace = _workspace(request, table, stored)
    locate = from_roots([filesystem.realpath(root)])
    whole = frozenset(map(locate, request.whole))
    earlier = EarlierFindings({}, kept.clusters, locate, whole=whole)
    report = api.go_on(workspace, options, knowledge, changed, earlier, then)
    if not sound(report.findings, {each.path for each in kept.input_files}):
        return None
    notes = stored.notes
    return ContinuedRun(
        OpenResult(
            workspace,
            WorkspaceNotes(
                elsewhere=notes.elsewhere,
                sources=kept.sources,
                notices=notes.notices,
                excludes=notes.excludes,
                policy_notices=notes.policy_notices,
                since=notes.since if same else (),  # what is judged now is what the commit has
            ),
        ),
        report,
    )


def _in_commit(root: str, revision: bytes, asked: RunQuestions) -> Mapping[int, bytes] | None:
    """The files of the run that a commit has with other contents; None: it has other files, or is one of a
    submodule. `revision`: as `git.state_of` tells it."""
    top, *above, commit = os.fsdecode(revision).splitlines()
    if above or top != filesystem.realpath(root):
        return None
    return other_contents(top, commit, asked.places, asked.questions)


def _is_allowed(request: Request, root: str, stored: StoredRun) -> bool:
    """Whether only files of the repositories of the run are opened, whatever the cache says."""
    kept, asked = stored.run, stored.asked
    real = filesystem.realpath(root)
    scopes = {*(each.scope for each in kept.input_files), *(each.name for each in kept.scopes)}
    folders = {*filter(None, kept.folders), *filter(None, map(shown_scope, filter(is_folder, scopes)))}
    return may_be_opened(
        [*asked.questions, *(f"c{path}" for path in asked.places if path)], _boundaries(request)
    ) and all(is_within(filesystem.realpath(folder), real) for folder in folders)


def _about(request: Request) -> object:
    """Everything that a run depends on besides files."""
    about = request._replace(cache=NO_CACHE, whole=())
    return about, os.getcwd(), today(), variables()


def _boundaries(request: Request) -> tuple[str, ...]:
    """The repositories, or else folders, of which a run may open files."""
    return tuple(roots_of([*request.paths, *request.policies, *request.crds]))


def _cannot() -> NoReturn:
    raise CannotGoOnError


class _Facts:
    """The facts of each file of a kept run."""

    def __init__(self, stored: StoredRun, results: Results) -> None:
        self._run = stored.run
        self._results = results

    def __call__(self) -> list[Sequence[StoredFacts]]:
        paths = [*(each.path for each in self._run.input_files), *self._run.beside]
        return [self._of(key, path) for key, path in zip(self._run.keys, paths, strict=True)]

    def _of(self, key: bytes, path: str) -> Sequence[StoredFacts]:
        entry = self._results.find(key) or _cannot()
        return (self._results.facts(entry, path, _again),) if b"\n" in entry else ()


def _again() -> Sequence[AnyFact]:
    """Facts that are damaged are read again by a run that judges everything."""
    _cannot()


def _changed(stored: StoredRun, results: Results, number: int) -> ChangedFile:
    path = stored.run.input_files[number].path
    (before,) = results.decode([results.find(stored.run.keys[number]) or _cannot()], [path])
    return ChangedFile(number, before or _cannot())


def _workspace(request: Request, table: SettingsTable, stored: StoredRun) -> Workspace:
    input_files = stored.run.input_files
    scope_files = ScopeFiles(request, table, Files(input_files, ()))
    return Workspace(
        input_files,
        table.settings,
        Reader(),
        surroundings=scope_files.of_scope,
        unread=scope_files.unread,
        reach=scope_files.of_policy,
        not_judged=stored.run.not_judged,
        completed=KustomizedFiles(),
    )


def keep_run(request: Request, opened: OpenResult, options: Options, found: UnitFindings) -> None:
    """Keeps a run for `continued`, if it is one that can be kept."""
    record, root = filesystem.record(), repository_root(os.getcwd())
    notes = opened.notes
    if not record or not record.complete or not root or notes.failures or notes.given is not None:
        return
    revision = state_of(request.since or "", root)
    kept = api.keep(opened.workspace, options, found, notes.sources, _folder_of) if revision else None
    if kept is None or not _is_one(opened.workspace.input_files, root) or has_controllers(root):
        return
    boundaries = _boundaries(request)
    answers = needed(record.answers(), boundaries)
    every = [*real_paths(each.file for each in kept.run.input_files)]
    shared = {path for path, times in Counter(every).items() if times > 1}  # links to a file of the run
    places = [
        path if path not in shared and f"c{path}" in answers and f"c{path}" not in record.decisive else ""
        for path in every
    ]
    contents = [answers.pop(f"c{path}") if path else "" for path in places]
    if may_be_opened([*answers, *(f"c{path}" for path in places if path)], boundaries):
        asked = RunQuestions(
            revision, tuple(answers), answers_of(answers.values()), tuple(places), tuple(contents)
        )
        told = KeptNotes(notes.elsewhere, notes.notices, notes.excludes, notes.policy_notices, notes.since)
        store_run(request.cache, _about(request), kept, asked, told)


def _folder_of(file: str) -> str:
    return os.path.dirname(os.path.abspath(file))


def _is_one(input_files: Sequence[InputFile], root: str) -> bool:
    """Whether all files are in one repository."""
    real = filesystem.realpath(root)
    return repositories(input_files) == {real: [real]}
