"""Findings since an earlier revision, judged with its own policies; what a pre-commit hook lints."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from policykit.errors import PolicykitError
from policykit.formats.findings import counted
from policykit.linter.baseline import Key, Locate
from policykit.linter.baseline_pass import earlier_amounts
from policykit.linter.input_file import STDIN, TEXT, InputFile
from policykit.linter.workspace import EarlierFindings, Options, Setting, Workspace
from policykit.namedtuple import NamedTuple
from policykit.workspace import filesystem
from policykit.workspace.cache.folder import NO_CACHE
from policykit.workspace.cache.revisions import JudgedFiles, KnownRevision, RevisionFindings
from policykit.workspace.command_state import aside
from policykit.workspace.files import is_found, real_paths, repository_root
from policykit.workspace.git import (
    commit_of,
    create_folder,
    has_commit,
    manifests_in,
    remote_urls,
    temporary_folder,
    top_of,
    write_revision,
)
from policykit.workspace.linting.incremental import unit_findings
from policykit.workspace.linting.loader import OpenResult, open_workspace
from policykit.workspace.linting.request import Request, today
from policykit.workspace.linting.roots import from_roots, repositories
from policykit.workspace.safe_paths import is_within

_FROM = "PRE_COMMIT_FROM_REF"
"""Set by pre-commit where it compares two revisions, as before a push."""


def hook_request(request: Request) -> Request:
    """The request for a hook that was given these files: everything of them is reported, and of the rest of
    the repository what HEAD, or the revision that pre-commit names, did not have.

    Outside a repository, and before its first commit, there is nothing to compare with.
    """
    root = repository_root(os.getcwd())
    if not root:
        return request._replace(whole=tuple(request.named))
    start = os.path.relpath(root)
    # Files that .gitignore leaves out are found only by their names.
    named = (path for path in request.named if not is_found(path, root))
    paths = (start, *named) if start == os.curdir else (start,)
    revision = os.environ.get(_FROM) or "HEAD"
    return request._replace(paths=paths, since=revision, whole=tuple(request.named))


def with_commit(request: Request) -> Request:
    """The request of a hook, without the revision if there is no commit yet."""
    root = repository_root(os.getcwd())
    is_first = root and request.since == "HEAD" and not has_commit("HEAD", top_of(root))
    return request._replace(since=None) if is_first else request


class LintedWorkspace(NamedTuple):
    """What a run judges, as far as runs of two revisions are compared."""

    input_files: tuple[InputFile, ...]
    settings: tuple[Setting, ...]
    sources: tuple[str, ...]
    """The policy or settings file of each setting; empty: there is none."""
    files: Mapping[str, frozenset[int]] = {}
    """Each file to the settings of the units that it is part of."""
    built: frozenset[str] = frozenset()
    """Folders of the kustomizations that are built, as shown."""
    accepted: int = 0
    """Findings that baselines accept."""


class Earlier(NamedTuple):
    """The findings of a revision, and notes about judging it."""

    findings: EarlierFindings
    notes: tuple[str, ...] = ()


def without_earlier(request: Request, opened: OpenResult) -> OpenResult:
    """The workspace that reports only what `request.since` did not have.

    Raises SourceError or UsageError if git fails.
    """
    earlier = earlier_findings(request, judged_by(opened))
    workspace, notes = opened
    return OpenResult(workspace._replace(earlier=earlier.findings), notes._replace(since=earlier.notes))


def earlier_findings(request: Request, now: LintedWorkspace) -> Earlier:
    """The findings that `request.since` had in what the request names. Raises SourceError or UsageError
    if git fails."""
    here = repository_root(os.getcwd())
    home = top_of(here) if here else ""
    runs = [_Revision(request, root, tops, home) for root, tops in repositories(now.input_files).items()]
    names = _policy_names(now, [run.root for run in runs])
    known = _CurrentPolicies(names, _cluster_names(now.settings))
    amounts: Counter[tuple[Key, str]] = Counter()
    files: set[str] = set()
    gone: set[str] = set()
    notes: dict[str, None] = {}
    for run in runs:
        found = run.judge(known)
        amounts.update(found.amounts)
        files |= found.files
        gone |= found.gone
        notes |= dict.fromkeys(found.notes)
        notes |= dict.fromkeys(run.no_longer(now, names, found.judged))
    locate = from_roots([run.root for run in runs])
    whole = frozenset(map(locate, request.whole))
    then = EarlierFindings(amounts, tuple(names), locate, frozenset(files), frozenset(gone), whole)
    return Earlier(then, tuple(notes))


_MOST = 10
"""Most files of a policy to name."""


class _CurrentPolicies(NamedTuple):
    """The policies of this run."""

    policies: list[str]
    """What each is called."""
    clusters: list[str]
    """The `metadata.name` of each."""


class _Revision:
    """A repository, with those in it, as it was."""

    def __init__(self, request: Request, root: str, tops: Sequence[str], home: str) -> None:
        self.root = root
        self._request = request
        self._tops = tops
        self._home = home
        self._revision = request.since or ""
        self._start = os.getcwd()

    def judge(self, known: _CurrentPolicies) -> RevisionFindings:
        """The findings of the revision, as the last run found them if all that decides them is the same."""
        commits = {top: commit_of(self._revision, top, self._home) for top in self._tops}
        entry = KnownRevision(self._request.cache, self.root, self._about(commits, known))
        found = entry.load()
        if found is None or found.gone != self._gone(found.files):
            found = self._lint(commits, known, entry)
        entry.note()
        return found

    def _about(self, commits: Mapping[str, str], known: _CurrentPolicies) -> tuple[object, ...]:
        """Everything that the findings depend on, besides what is asked outside the repository."""
        request = self._request._replace(cache=NO_CACHE, whole=())
        urls = [*map(remote_urls, commits)]
        for root, some in zip(commits, urls, strict=True):
            filesystem.note_remotes(root, some)
        return (*commits.items(), *urls, request, self._start, today(), known)

    def _gone(self, files: Iterable[str]) -> frozenset[str]:
        return frozenset(name for name in files if not filesystem.lexists(os.path.join(self.root, name)))

    def _lint(
        self, commits: Mapping[str, str], known: _CurrentPolicies, entry: KnownRevision
    ) -> RevisionFindings:
        """Writes the files of the revision to a folder, and lints them there."""
        with temporary_folder() as made:
            folder = os.path.join(made, "repository")
            every: set[str] = set()
            for top, commit in commits.items():
                below = os.path.relpath(top, self.root)
                if commit:
                    inside = write_revision(top, commit, os.path.normpath(os.path.join(folder, below)))
                    every.update(os.path.normpath(os.path.join(below, name)) for name in inside)
            if not every:
                return RevisionFindings()
            gone = self._gone(every)
            with aside(), _inside(self._moved_folder(folder)), filesystem.Recorded() as record:
                found = self._judge(folder, gone, known)._replace(files=frozenset(every), gone=gone)
                entry.store(found, record, made)
            return found

    def _judge(self, folder: str, gone: frozenset[str], known: _CurrentPolicies) -> RevisionFindings:
        from policykit.linter.baseline_pass import accept

        request = self._moved_request(folder, gone)
        if not request.paths:
            return RevisionFindings()
        try:
            opened = open_workspace(request)
        except PolicykitError as error:
            return RevisionFindings(notes=(self._message(str(error), folder),))
        found, report, _ = unit_findings(request, opened, Options(today=today()))
        if opened.workspace.baselines:
            found = accept(opened.workspace, found, complete=not report.failures).findings
        judged = judged_by(opened)
        paired = _paired(_policy_names(judged, [folder]), judged, known)
        failures = (*opened.notes.failures, *report.failures)
        amounts = dict(earlier_amounts(found, paired, from_roots([folder])))
        notes = tuple(self._message(each, folder) for each in failures)
        return RevisionFindings(amounts, notes=notes, judged=_summary(judged, paired, from_roots([folder])))

    def no_longer(self, now: LintedWorkspace, names: Sequence[str], then: JudgedFiles) -> Iterator[str]:
        """What the revision judged, and is not judged any more although it is still there. `names`: of the
        policies of today."""
        files, rules, built, accepted = _summary(now, names, from_roots([self.root]))
        start = f"policykit: no longer judged, unlike in {self._revision}: "
        lost: dict[str, list[str]] = {}
        for path, clusters in sorted(then[0].items()):
            missing = clusters.keys() - files.get(path, {}).keys()
            if missing and filesystem.lexists(os.path.join(self.root, path)):
                for policy in sorted(missing):
                    lost.setdefault(clusters[policy], []).append(path)
        for cluster, paths in sorted(lost.items()):
            yield from (f"{start}{path}, by policy {cluster}" for path in paths[:_MOST])
            if len(paths) > _MOST:
                yield f"{start}{counted(len(paths) - _MOST, 'more file')}, by policy {cluster}"
        unbuilt = sorted(
            folder for folder in then[2] - built if filesystem.lexists(os.path.join(self.root, folder))
        )
        yield from (f"{start}{folder} as kustomize builds it" for folder in unbuilt)
        for cluster, codes in sorted(then[1].items()):
            gone = sorted(codes - rules.get(cluster, codes))
            if gone:
                yield f"{start}{', '.join(gone)}, by policy {cluster}"
        if accepted > then[3]:
            yield f"{start}{counted(accepted - then[3], 'finding')} that the baseline now accepts"

    def _message(self, failure: str, folder: str) -> str:
        # The help of a failure would be for the revision, where nothing can be mended.
        text = failure.partition("\n")[0].replace(folder, self.root)
        return f"policykit: {self._revision} could not be judged as a whole: {text}"

    def _moved_folder(self, folder: str) -> str:
        """The current folder, among the files of the revision."""
        here = os.path.realpath(os.getcwd())
        moved = (
            os.path.join(folder, os.path.relpath(here, self.root)) if is_within(here, self.root) else folder
        )
        create_folder(moved)
        return os.path.normpath(moved)

    def _moved_request(self, folder: str, gone: frozenset[str]) -> Request:
        """The request for the revision: paths that did not exist are left out, and files that are gone
        are added, since what they had may have moved. Called in the folder of the revision."""
        request = self._request
        paths = [self._moved(path, folder) for path in request.named]
        paths = [path for path in paths if os.path.lexists(path) and is_within(os.path.abspath(path), folder)]
        covered = [os.path.abspath(path) for path in paths]
        more = (os.path.join(folder, name) for name in manifests_in(gone))
        paths += [
            os.path.relpath(path) for path in more if not any(is_within(path, here) for here in covered)
        ]
        return request._replace(
            paths=paths,
            policies=tuple(self._moved(policy, folder) for policy in request.policies),
            baseline=request.baseline and self._moved(request.baseline, folder),
            crds=[self._moved(path, folder) for path in request.crds],
            stdin_filename="",
            force_exclude=True,
            since=None,
            cache=request.cache._replace(place=self._start),
        )

    def _moved(self, path: str, folder: str) -> str:
        """A path of the command line, among the files of the revision where it is in the repository."""
        if path.startswith("profile:"):
            return path
        real = _real(os.path.join(self._start, path))
        if not is_within(real, self.root):
            return os.path.join(self._start, path)
        moved = os.path.normpath(os.path.join(folder, os.path.relpath(real, self.root)))
        return moved if os.path.isabs(path) else os.path.relpath(moved)


def judged_by(opened: OpenResult) -> LintedWorkspace:
    """What a run judges."""
    workspace, notes = opened
    files = workspace.baselines.files.values() if workspace.baselines else ()
    return LintedWorkspace(
        workspace.input_files,
        workspace.settings,
        notes.sources,
        _files_of_units(workspace),
        frozenset(build.shown for build in workspace.builds if not build.file),
        sum(sum(file.baseline.accepted.values()) for file in files),
    )


def _files_of_units(workspace: Workspace) -> dict[str, frozenset[int]]:
    """Each file, links resolved, to the settings of its units."""
    found: dict[str, set[int]] = {}
    for build in workspace.builds:
        for file in build.tree.written():
            if file not in build.silent:
                found.setdefault(file, set()).add(build.input_file.setting)
    input_files = [one for one in workspace.input_files if one.file != STDIN and one.only != TEXT]
    for one, file in zip(input_files, real_paths(one.file for one in input_files), strict=True):
        if file not in found:
            found[file] = {one.setting}
    return {file: frozenset(settings) for file, settings in found.items()}


def _summary(judged: LintedWorkspace, names: Sequence[str], locate: Locate) -> JudgedFiles:
    """`names`: of the policies of the settings."""
    clusters = _cluster_names(judged.settings)
    files = {
        locate(file): {names[number]: clusters[number] for number in settings if clusters[number]}
        for file, settings in judged.files.items()
    }
    pairs = zip(clusters, judged.settings, strict=True)
    rules = {name: setting.selection.codes & setting.rules.codes() for name, setting in pairs if name}
    built = frozenset(os.path.dirname(locate(os.path.join(folder, "x"))) or "." for folder in judged.built)
    return files, rules, built, judged.accepted


def _real(path: str) -> str:
    """Absolute, with the links of its folder resolved."""
    folder, name = os.path.split(os.path.abspath(path))
    return os.path.join(os.path.realpath(folder), name)


def _policy_names(judged: LintedWorkspace, roots: Sequence[str]) -> list[str]:
    """What each policy is called when two revisions are compared: its file; empty: there is no policy."""
    locate = from_roots(roots)
    pairs = zip(judged.settings, judged.sources, strict=True)
    return [
        "" if not setting.cluster else source if source.startswith("profile:") else locate(source)
        for setting, source in pairs
    ]


def _cluster_names(settings: Sequence[Setting]) -> list[str]:
    return [setting.cluster.name if setting.cluster else "" for setting in settings]


def _paired(own: Sequence[str], judged: LintedWorkspace, known: _CurrentPolicies) -> list[str]:
    """The policies of a revision under the names of those of today: by file, else by `metadata.name`."""
    moved = {
        cluster: name
        for name, cluster in zip(known.policies, known.clusters, strict=True)
        if name not in own and cluster
    }
    clusters = _cluster_names(judged.settings)
    return [
        name if name in known.policies else moved.get(cluster, name)
        for name, cluster in zip(own, clusters, strict=True)
    ]


@contextmanager
def _inside(folder: str) -> Iterator[None]:
    """With another current folder."""
    before = os.getcwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)
