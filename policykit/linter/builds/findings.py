"""The pass over builds: findings about built objects, reported in the source files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from policykit.errors import Failures, SourceError
from policykit.linter.builds.locations import SourceLocator
from policykit.linter.builds.source_files import ParsedTexts
from policykit.linter.finding import Finding, listed
from policykit.linter.reader import decode, is_marked_partial
from policykit.linter.suppressions import SuppressionUse, apply_suppressions
from policykit.linter.unit import PassResult, UnitFinding, UnitResult
from policykit.linter.workspace import Run, Workspace
from policykit.namedtuple import NamedTuple


def build_findings(run: Run, judged: Sequence[UnitResult], scoped: Iterable[UnitFinding]) -> PassResult:
    """The findings of every build and its scope, with the annotations of the built objects applied.

    Findings in files that settings exclude, or without a source location, are left out.
    """
    failures = Failures()
    found: list[UnitFinding] = []
    numbers = {build.input_file.path: number for number, build in enumerate(run.workspace.builds)}
    by_build: dict[int, list[UnitFinding]] = {}
    annotations: dict[int, tuple[SuppressionUse, ...]] = {}
    for each in judged:
        number = numbers.get(each.input_file.path, -1)
        if number >= 0:
            annotations[number] = each.result.suppressions
            for finding in each.result.findings:
                by_build.setdefault(number, []).append(UnitFinding(finding, each.input_file.setting, number))
    for one in scoped:
        by_build.setdefault(one.build, []).append(one)
    parsed = ParsedTexts()
    for number, own in sorted(by_build.items()):
        with failures.collect(run.workspace.builds[number].shown):
            found.extend(_placed(run, number, own, annotations, parsed))
    return PassResult(tuple(_qualified(run.workspace, found)), tuple(failures))


def _qualified(workspace: Workspace, found: Sequence[UnitFinding]) -> Iterator[UnitFinding]:
    """Adapts the help for files that several clusters use: a change that only some need belongs in an
    overlay.

    This ignores settings and suppressions: a cluster may need a change whose finding it suppresses.
    """
    clusters = [
        setting.cluster.name if setting.cluster else ""
        for setting in (workspace.settings[build.input_file.setting] for build in workspace.builds)
    ]
    if len({*clusters} - {""}) < 2:
        yield from found
        return
    users: dict[str, set[str]] = {}
    for name, build in zip(clusters, workspace.builds, strict=True):
        for file in build.tree.written():
            if name and file in build.names:
                users.setdefault(build.names[file].path, set()).add(name)
    needing: dict[tuple[object, ...], set[str]] = {}
    for one in found:
        needing.setdefault(_advice(one.finding), set()).add(clusters[one.build])
    for one in found:
        finding, own = one.finding, needing[_advice(one.finding)] - {""}
        others = sorted(users.get(finding.path, set()) - own)
        if others and own and finding.help:
            verb = "uses" if len(others) == 1 else "use"
            where = f"in an overlay of {listed(sorted(own))}, as {listed(others)} {verb} this file too"
            one = one._replace(finding=finding._replace(help=f"{where}: {finding.help}"))
        yield one


def _advice(finding: Finding) -> tuple[object, ...]:
    return finding.path, finding.span, finding.code, finding.document, finding.help


def _placed(
    run: Run,
    number: int,
    found: Iterable[UnitFinding],
    annotations: Mapping[int, tuple[SuppressionUse, ...]],
    parsed: ParsedTexts,
) -> list[UnitFinding]:
    places = SourceLocator(run.workspace.builds[number], run.workspace.read, parsed)
    placed = []
    for one in sorted(found, key=lambda one: one.finding.sort_key()):
        at = places.of(one.finding)
        if at is not None:
            ignored = not apply_suppressions([one.finding], annotations.get(number, ()))[0]
            placed.append(
                UnitFinding(
                    at.finding, one.setting, number, at.source_location, at.outside_kustomization, ignored
                )
            )
    return placed


class ReconciledFindings(NamedTuple):
    """The remaining findings of files, and of builds."""

    files: tuple[UnitFinding, ...]
    builds: tuple[UnitFinding, ...]


def reconcile(
    workspace: Workspace, files: Sequence[UnitFinding], builds: Sequence[UnitFinding]
) -> ReconciledFindings:
    """Structural findings of files and builds without duplicates. If a build has the finding of a file too,
    it is reported for the file, which can be fixed. Builds of a file marked as partial have none, since a
    tool other than kustomize completes it.
    """
    codes = frozenset[str]().union(*(setting.rules.schema_rules() for setting in workspace.settings))
    resources = _resources(workspace)
    shown = {_mark(one) for one in builds if one.finding.code in codes}
    kept = [
        one
        for one in files
        if one.finding.code not in codes
        or (one.setting, one.finding.path) not in resources
        or _mark(one) in shown
    ]
    known = {mark for one in kept if one.finding.code in codes for mark in (_mark(one), _spot(one))}
    partial = _Partial(workspace)
    added = [
        one
        for one in builds
        if one.finding.code not in codes
        or not (_mark(one) in known or _spot(one) in known or partial.says(one))
    ]
    return ReconciledFindings(tuple(kept), tuple(added))


class _Partial:
    """Files marked as partial, each read once."""

    def __init__(self, workspace: Workspace) -> None:
        self._read = workspace.read
        self._files = {input_file.path: input_file.file for input_file in workspace.input_files}
        self._known: dict[str, bool] = {}

    def says(self, one: UnitFinding) -> bool:
        """Whether the file of an object is marked."""
        path = one.source_location[0] if one.source_location else one.finding.path
        if path not in self._known:
            try:
                text = decode(self._read(self._files.get(path, path))).text
            except SourceError:
                text = ""
            self._known[path] = is_marked_partial(text)
        return self._known[path]


def _resources(workspace: Workspace) -> set[tuple[int, str]]:
    """Policy and reported path of each file whose objects builds of that policy use, and of each patch with a
    target, whose kind counts instead of its own."""
    return {
        (build.input_file.setting, build.names[listed.file].path)
        for build in workspace.builds
        for tree in build.tree.every()
        for listed in (*tree.resources, *(patch for patch in tree.patches if patch.target is not None))
        if listed.file in build.names
    }


def _mark(one: UnitFinding) -> tuple[object, ...]:
    of = one.finding
    return one.setting, of.path, of.document, of.code, of.pointer


def _spot(one: UnitFinding) -> tuple[object, ...]:
    of = one.finding
    return one.setting, of.path, of.span, of.code
