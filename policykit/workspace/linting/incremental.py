"""Lints with cached results of earlier runs, where a run is large enough to be worth it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from policykit import api
from policykit.linter.finding import Report
from policykit.linter.input_file import STDIN
from policykit.linter.run import UnitFindings
from policykit.linter.workspace import Options, Setting, Workspace
from policykit.workspace import filesystem
from policykit.workspace.files import read
from policykit.workspace.linting.loader import OpenResult, WorkspaceNotes
from policykit.workspace.linting.request import Request
from policykit.workspace.policies import compiled_policy

if TYPE_CHECKING:
    from policykit.workspace.cache.results import Results

_WORTH = 100_000
"""Bytes of manifests below which reading the cache takes longer than linting."""


def lint(request: Request, opened: OpenResult, options: Options) -> Report:
    """The report of a workspace; only what depends on changed files or settings is computed again."""
    workspace, notes = opened
    if not request.cache.folder or request.timed:
        return api.lint(workspace, options)
    memory = _Memory(request, notes)
    if _is_small(workspace):
        filesystem.close_record()  # it would not be kept
        report = api.lint(workspace._replace(remembered=memory.with_results), options)
    else:
        workspace = memory.with_results(workspace)
        found = api.unit_findings(workspace, options)
        report = api.report_of(workspace, options, found)
        if request.since is not None:
            from policykit.workspace.linting.continued import keep_run

            keep_run(request, OpenResult(workspace, notes), options, found)
        elif STDIN not in request.paths:
            filesystem.keep_record(request.cache.folder)
    memory.store()
    return report


def _is_small(workspace: Workspace) -> bool:
    """Whether reading the cache takes longer than linting: to build objects again takes longer than both."""
    return not workspace.builds and sum(workspace.sizes) < _WORTH


def unit_findings(request: Request, opened: OpenResult, options: Options) -> UnitFindings:
    """The findings of all units, with the cached results of single files."""
    workspace, notes = opened
    if not request.cache.folder or request.timed:
        return api.unit_findings(workspace, options)
    memory = _Memory(request, notes)
    small = _is_small(workspace)
    workspace = (
        workspace._replace(remembered=memory.with_results) if small else memory.with_results(workspace)
    )
    found = api.unit_findings(workspace, options)
    memory.store()
    return found


class _Memory:
    """The results of earlier runs for single files, loaded once and only if asked for."""

    def __init__(self, request: Request, notes: WorkspaceNotes) -> None:
        self._request = request
        self._notes = notes
        self._results: Results | None = None

    def with_results(self, workspace: Workspace) -> Workspace:
        """The workspace with the results, and with settings that tell which of them hold."""
        if workspace.cache is not None:
            return workspace
        from policykit.workspace.cache.results import load_results

        self._results = self._results or load_results(self._request.cache)
        return self.with_fingerprints(workspace)._replace(cache=self._results)

    def with_fingerprints(self, workspace: Workspace) -> Workspace:
        """The workspace with settings that tell which results hold."""
        pairs = zip(workspace.settings, self._notes.sources, strict=True)
        settings = tuple(_with_fingerprint(setting, source, self._request) for setting, source in pairs)
        return workspace._replace(settings=settings)

    def store(self) -> None:
        """Stores new results for the next run."""
        if self._results is not None:
            from policykit.workspace.cache.results import store_results

            store_results(self._request.cache, self._results)


def _with_fingerprint(setting: Setting, source: str, request: Request) -> Setting:
    if setting.fingerprint != b"":
        return setting
    from policykit.workspace.cache.policies import fingerprint

    found = fingerprint(compiled_policy(source, request.cache).files, read) if setting.cluster else b"none"
    return setting._replace(fingerprint=found)
