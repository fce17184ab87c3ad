"""Linting with cached results of earlier runs, for runs large enough to be worth it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

from policykit import api
from policykit.errors import SourceError
from policykit.linter.finding import Report
from policykit.linter.member import STDIN
from policykit.linter.run import UnitFindings
from policykit.linter.workspace import Options, Setting, Workspace
from policykit.workspace.boundary import root_of
from policykit.workspace.compiled_policies import compiled_policy
from policykit.workspace.files import read
from policykit.workspace.linting.request import Request
from policykit.workspace.linting.workspace import OpenResult, WorkspaceNotes
from policykit.workspace.scopes import KUSTOMIZATIONS

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
    if _size(workspace) < _WORTH:
        report = api.lint(workspace._replace(remembered=memory.with_results), options)
        memory.store()
        return report
    workspace = memory.with_fingerprints(workspace)
    key = _key(request, workspace, notes, options) if _is_self_contained(request, workspace, notes) else None
    if key is None:
        return _by_file(memory, workspace, options)
    from policykit.workspace.cache import results

    found = results.load_report(request.cache, key, frozenset(member.path for member in workspace.members))
    if found is None:
        # Other policies that use a file depend on files outside the run, so they are checked every time.
        found = _by_file(memory, workspace._replace(other_policy=lambda file, setting, texts: None), options)
        results.store_report(request.cache, key, found)
    return api.without_shared_fixes(workspace, found) if options.fixes else found


def _size(workspace: Workspace) -> int:
    """Bytes of files and of built objects."""
    return sum(workspace.sizes) + sum(len(workspace.read(build.member.file)) for build in workspace.builds)


def unit_findings(request: Request, opened: OpenResult, options: Options) -> UnitFindings:
    """The findings of all units, with the cached results of single files."""
    workspace, notes = opened
    if not request.cache.folder or request.timed:
        return api.unit_findings(workspace, options)
    memory = _Memory(request, notes)
    small = _size(workspace) < _WORTH
    workspace = (
        workspace._replace(remembered=memory.with_results) if small else memory.with_results(workspace)
    )
    found = api.unit_findings(workspace, options)
    memory.store()
    return found


def _by_file(memory: _Memory, workspace: Workspace, options: Options) -> Report:
    """Lints with the cached results of single files, and stores new ones."""
    report = api.lint(memory.with_results(workspace), options)
    memory.store()
    return report


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


def _is_self_contained(request: Request, workspace: Workspace, notes: WorkspaceNotes) -> bool:
    """Whether the report depends only on files of the run."""
    if (
        STDIN in request.paths
        or notes.excludes
        or workspace.policies
        or workspace.builds
        or any(setting.fingerprint is None for setting in workspace.settings)
    ):
        return False
    folders = [os.path.join(os.path.realpath(path), "") for path in request.named if os.path.isdir(path)]
    scopes = {os.path.realpath(member.scope) for member in workspace.members if member.scope}
    # Kustomizations elsewhere in the repository may add to objects.
    lists = (m.file for m in workspace.members if os.path.basename(m.file) in KUSTOMIZATIONS)
    return all(
        any(os.path.join(place, "").startswith(folder) for folder in folders)
        for place in scopes.union(map(root_of, lists))
    )


def _key(request: Request, workspace: Workspace, notes: WorkspaceNotes, options: Options) -> bytes | None:
    """A digest of all files, settings and options; None: a file cannot be read."""
    from hashlib import blake2b

    from policykit.workspace.cache.results import REPORT_KEY

    digest = blake2b(digest_size=REPORT_KEY)
    for part in (workspace.not_judged, workspace.failed_builds, *_parts(workspace, options)):
        digest.update(repr(part).encode("utf-8", errors="surrogatepass"))
    for member in workspace.members:
        try:
            raw = workspace.read(member.file)
        except SourceError:
            return None
        digest.update(f"{tuple(member)!r} {len(raw)}\0".encode("utf-8", errors="surrogatepass"))
        digest.update(raw)
    return digest.digest()


def _parts(workspace: Workspace, options: Options) -> Iterator[object]:
    yield options.fixes, options.today
    earlier = workspace.earlier
    yield earlier and (sorted(earlier.amounts.items()), earlier.clusters, sorted(earlier.gone))
    baselines = workspace.baselines
    if baselines:
        yield [(path, file.text) for path, file in sorted(baselines.files.items())]
        yield sorted(baselines.governing.items()), sorted(baselines.covered)
    for setting in workspace.settings:
        chosen = setting.selection
        yield (setting.fingerprint, setting.namespace, setting.plugins)
        yield (sorted(chosen.codes), chosen.errors_only, chosen.below)
        yield sorted(chosen.severities.items()), [(glob, sorted(codes)) for glob, codes in chosen.per_path]
