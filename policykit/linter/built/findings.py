"""Findings about built objects, at the places in the files that say what they are about."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from policykit.errors import Failures
from policykit.linter.built.places import Places
from policykit.linter.finding import Finding, listed
from policykit.linter.suppression import SuppressionUse, sift
from policykit.linter.unit import Judgement, PassResult, UnitFinding
from policykit.linter.workspace import Run, Workspace


def build_findings(run: Run, judged: Sequence[Judgement], scoped: Iterable[UnitFinding]) -> PassResult:
    """Of every build, its own and those of its scope; annotations of the built objects are applied.

    A finding in a file that settings leave out, or that cannot be placed, is left out.
    """
    failures = Failures()
    found: list[UnitFinding] = []
    numbers = {build.member.path: number for number, build in enumerate(run.workspace.builds)}
    by_build: dict[int, list[UnitFinding]] = {}
    annotations: dict[int, tuple[SuppressionUse, ...]] = {}
    for each in judged:
        number = numbers.get(each.member.path, -1)
        if number >= 0:
            annotations[number] = each.result.suppressions
            for finding in each.result.findings:
                by_build.setdefault(number, []).append(UnitFinding(finding, each.member.setting, number))
    for one in scoped:
        by_build.setdefault(one.build, []).append(one)
    for number, own in sorted(by_build.items()):
        with failures.collect(run.workspace.builds[number].shown):
            found.extend(_placed(run, number, own, annotations))
    return PassResult(tuple(_qualified(run.workspace, found)), tuple(failures))


def _qualified(workspace: Workspace, found: Sequence[UnitFinding]) -> Iterator[UnitFinding]:
    """With help that is wrong nowhere: what only some clusters need is not for a file that others use.

    Settings and suppressions have no say in it: who does not want to hear of something may need it, too.
    """
    clusters = [
        setting.cluster.name if setting.cluster else ""
        for setting in (workspace.settings[build.member.setting] for build in workspace.builds)
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
) -> list[UnitFinding]:
    places = Places(run.workspace.builds[number], run.workspace.read)
    placed = []
    for one in sorted(found, key=lambda one: one.finding.sort_key()):
        at = places.of(one.finding)
        if at is not None:
            ignored = not sift([one.finding], annotations.get(number, ()))[0]
            placed.append(UnitFinding(at.finding, one.setting, number, at.home, at.foreign, ignored))
    return placed
