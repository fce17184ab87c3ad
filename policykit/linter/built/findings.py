"""Findings about built objects, at the places in the files that say what they are about."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from policykit.errors import Failures
from policykit.linter.built.places import Places
from policykit.linter.suppression import Suppressed, sift
from policykit.linter.unit import Found, Judgement, UnitFinding
from policykit.linter.workspace import Run


def build_findings(run: Run, judged: Sequence[Judgement], scoped: Iterable[UnitFinding]) -> Found:
    """Of every build, its own and those of its scope; annotations of the built objects are applied.

    A finding in a file that settings leave out, or that cannot be placed, is left out.
    """
    failures = Failures()
    found: list[UnitFinding] = []
    numbers = {build.member.path: number for number, build in enumerate(run.workspace.builds)}
    by_build: dict[int, list[UnitFinding]] = {}
    annotations: dict[int, tuple[Suppressed, ...]] = {}
    for each in judged:
        number = numbers.get(each.member.path, -1)
        if number >= 0:
            annotations[number] = each.result.suppressions
            for finding in each.result.findings:
                by_build.setdefault(number, []).append(UnitFinding(finding, each.member.setting, number))
    for one in scoped:
        by_build.setdefault(one.build, []).append(one)
    for number, own in sorted(by_build.items()):
        with failures.told(run.workspace.builds[number].shown):
            found.extend(_placed(run, number, own, annotations))
    return Found(tuple(found), tuple(failures))


def _placed(
    run: Run,
    number: int,
    found: Iterable[UnitFinding],
    annotations: Mapping[int, tuple[Suppressed, ...]],
) -> list[UnitFinding]:
    places = Places(run.workspace.builds[number], run.workspace.read)
    placed = []
    for one in sorted(found, key=lambda one: one.finding.sort_key()):
        at = places.of(one.finding)
        if at is not None:
            ignored = not sift([one.finding], annotations.get(number, ()))[0]
            placed.append(UnitFinding(at.finding, one.setting, number, at.home, at.foreign, ignored))
    return placed
