"""The pass over baselines: which findings they accept, and which of their entries are stale."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from policykit.linter.baseline import STALE, BaselineFile, Baselines, Key, Locate, key_of, stale_entries
from policykit.linter.finding import Finding
from policykit.linter.locate import finding_of, locate
from policykit.linter.registry import BASELINE
from policykit.linter.rule import Context
from policykit.linter.unit import UnitFinding
from policykit.linter.workspace import Setting, Workspace
from policykit.namedtuple import NamedTuple


class BaselineResult(NamedTuple):
    """The findings that no baseline accepts."""

    findings: tuple[UnitFinding, ...]
    amount: int = 0
    """Number of accepted findings; a finding that several units share counts once."""


class Slot(NamedTuple):
    """Findings that count as one: the same finding of one cluster, in several builds, at one location."""

    baseline: str
    """Absolute path; empty: the file has no baseline."""
    key: Key
    place: tuple[object, ...]
    """Its location, shared by findings that differ only in cluster and cause: an entry of version 1 accepts
    them as one."""
    findings: list[UnitFinding]


def accept(workspace: Workspace, found: Sequence[UnitFinding], *, complete: bool) -> BaselineResult:
    """Removes accepted findings, and reports stale entries if the run is `complete`.

    Of two equal findings, the one in a file that an earlier revision had is accepted first.
    """
    baselines = workspace.baselines
    if baselines is None:
        return BaselineResult(tuple(found))
    left = {path: Counter(each.baseline.accepted) for path, each in baselines.files.items()}
    shared: set[tuple[object, ...]] = set()
    every = [*slots(found, clusters_of(workspace), baselines)]
    earlier = workspace.earlier
    if earlier is not None:
        every.sort(key=lambda slot: not earlier.had(slot.findings[0].finding.path))
    kept = [slot for slot in every if not _take(slot, left, shared)]
    reported = [one for slot in kept for one in slot.findings]
    if complete:
        reported += _in_vain(workspace, baselines, left)
    accepted = {slot.place for slot in every} - {slot.place for slot in kept}
    return BaselineResult(tuple(reported), len(accepted))


class Tally(NamedTuple):
    """The number of times each finding occurs."""

    found: Counter[Key]
    general: Counter[Key]
    """Numbers by the keys of version 1, which have neither cluster nor cause."""


def tally(found: Iterable[UnitFinding], clusters: Sequence[str], locate: Locate) -> Tally:
    """The number of times each finding occurs, without findings about stale entries."""
    some = [one for one in found if one.finding.code != STALE]
    every = [*slots(some, clusters, Baselines({}, {}), locate)]
    places = {slot.place: slot.key.general() for slot in every}
    return Tally(Counter(slot.key for slot in every), Counter(places.values()))


def clusters_of(workspace: Workspace) -> list[str]:
    """The name of each setting's cluster; empty: it has none."""
    return [setting.cluster.name if setting.cluster else "" for setting in workspace.settings]


def from_folder(folder: str) -> Locate:
    """Converts reported paths to paths relative to the folder of a baseline."""
    return lambda path: os.path.relpath(os.path.abspath(path), folder).replace(os.sep, "/")


def common_codes(settings: Sequence[Setting]) -> frozenset[str]:
    """Codes of the rules that are selected for every file."""
    return frozenset.intersection(*(setting.selection.codes & setting.rules.codes() for setting in settings))


def settings_of(workspace: Workspace, paths: Iterable[str]) -> list[Setting]:
    """The settings of the files; without files, those that apply without a policy."""
    wanted = {*paths}
    numbers = {member.setting for member in workspace.members if member.path in wanted}
    return [workspace.settings[number] for number in sorted(numbers) or [0]]


def slots(
    found: Iterable[UnitFinding],
    clusters: Sequence[str],
    baselines: Baselines,
    locate: Locate | None = None,
) -> Iterator[Slot]:
    """Groups findings by key and location; `clusters` has the name of each setting's cluster."""
    known: dict[tuple[object, ...], Slot] = {}
    seen: Counter[tuple[object, ...]] = Counter()
    for one in sorted(found, key=lambda one: one.finding.sort_key()):
        of = one.finding
        path = baselines.governing.get(of.path, "")
        key = key_of(of, locate or from_folder(os.path.dirname(path)), clusters[one.setting])
        place = (path, of.path, of.span, of.document, key.general())
        # A second finding of a unit at the same location counts separately, unless its message is the same.
        unit = (one.setting, one.build)
        said = (*place, *unit, of.message, of.severity)
        number = seen[(*place, *unit)] - (1 if seen[said] else 0)
        if not seen[said]:
            seen[(*place, *unit)] += 1
        seen[said] += 1
        slot = Slot(path, key, (*place, number), [])
        known.setdefault((*slot.place, key), slot).findings.append(one)
    yield from known.values()


def _take(slot: Slot, left: dict[str, Counter[Key]], shared: set[tuple[object, ...]]) -> bool:
    """Whether a slot is accepted. Removes the entry it uses; one of version 1 is used once per location."""
    if not slot.baseline:
        return False
    own = left[slot.baseline]
    if own[slot.key] > 0:
        own[slot.key] -= 1
        return True
    general = slot.key.general()
    if slot.place not in shared and own[general] > 0:
        own[general] -= 1
        shared.add(slot.place)
    return slot.place in shared


def _in_vain(
    workspace: Workspace, baselines: Baselines, left: dict[str, Counter[Key]]
) -> Iterator[UnitFinding]:
    """Stale entries of the baselines whose files have all been linted."""
    clusters = clusters_of(workspace)
    for path, each in baselines.files.items():
        if path in baselines.covered:
            governed = [file for file, by in baselines.governing.items() if by == path]
            settings = settings_of(workspace, governed)
            setting = workspace.settings.index(settings[0])
            yield from (
                UnitFinding(finding, setting) for finding in _stale(each, left[path], settings, clusters)
            )


def _stale(
    file: BaselineFile, left: Counter[Key], settings: Sequence[Setting], clusters: Sequence[str]
) -> Iterator[Finding]:
    for entry in stale_entries(file.baseline, left, common_codes(settings), file.text, clusters):
        for rule in settings[0].rules.of(BASELINE):
            for violation in rule.check(entry, Context(path=file.shown)):
                found = finding_of(rule, violation, locate(violation, file.shown))
                yield from settings[0].selection.apply([found])
