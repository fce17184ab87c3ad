"""The pass over baselines: which findings they accept, and which of their entries are stale."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from policykit.linter.baseline import STALE, BaselineFile, Baselines, Key, Locate, key_of, stale_entries
from policykit.linter.finding import Finding
from policykit.linter.locate import finding_of, locate
from policykit.linter.registry import BASELINE
from policykit.linter.rule import Context
from policykit.linter.unit import UnitFinding
from policykit.linter.workspace import Setting, Workspace


class BaselineResult(NamedTuple):
    """The findings that no baseline accepts."""

    findings: tuple[UnitFinding, ...]
    amount: int = 0
    """Number of accepted findings; one that several units share counts once."""


class _Slot(NamedTuple):
    """Findings that a baseline counts as one: the same finding of several units at one location."""

    baseline: str
    """Absolute path; empty: none governs the file."""
    key: Key
    findings: list[UnitFinding]


def accept(workspace: Workspace, found: Sequence[UnitFinding], *, complete: bool) -> BaselineResult:
    """Removes accepted findings, and reports stale entries if the run is `complete`.

    Of two equal findings, the one in an unchanged document is accepted first.
    """
    baselines = workspace.baselines
    if baselines is None:
        return BaselineResult(tuple(found))
    left = {path: Counter(each.baseline.accepted) for path, each in baselines.files.items()}
    slots = [*_slots(found, baselines)]
    old = [slot for slot in slots if not workspace.is_changed(slot.findings[0].finding)]
    for slot in old:
        _take(slot, left)
    new = [slot for slot in slots if workspace.is_changed(slot.findings[0].finding)]
    kept = [slot for slot in new if not _take(slot, left)]
    reported = [one for slot in (*old, *kept) for one in slot.findings]
    if complete and workspace.changes is None:
        reported += _in_vain(workspace, baselines, left)
    return BaselineResult(tuple(reported), len(new) - len(kept))


def tally(found: Iterable[UnitFinding], locate: Locate) -> Counter[Key]:
    """The number of times each finding occurs, without findings about stale entries."""
    governing = Baselines({}, {})
    some = [one for one in found if one.finding.code != STALE]
    return Counter(slot.key for slot in _slots(some, governing, locate))


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


def _slots(
    found: Iterable[UnitFinding], baselines: Baselines, locate: Locate | None = None
) -> Iterator[_Slot]:
    slots: dict[tuple[object, ...], _Slot] = {}
    seen: Counter[tuple[object, ...]] = Counter()
    for one in sorted(found, key=lambda one: one.finding.sort_key()):
        of = one.finding
        path = baselines.governing.get(of.path, "")
        key = key_of(of, locate or from_folder(os.path.dirname(path)))
        place = (path, of.path, of.span, of.document, key)
        # A second finding of a unit at the same location is another one, unless its message is the same.
        unit = (one.setting, one.build)
        said = (*place, *unit, of.message, of.severity)
        number = seen[(*place, *unit)] - (1 if seen[said] else 0)
        if not seen[said]:
            seen[(*place, *unit)] += 1
        seen[said] += 1
        slots.setdefault((*place, number), _Slot(path, key, [])).findings.append(one)
    yield from slots.values()


def _take(slot: _Slot, left: dict[str, Counter[Key]]) -> bool:
    """Whether a slot is accepted; takes what it uses."""
    if not slot.baseline or left[slot.baseline][slot.key] <= 0:
        return False
    left[slot.baseline][slot.key] -= 1
    return True


def _in_vain(
    workspace: Workspace, baselines: Baselines, left: dict[str, Counter[Key]]
) -> Iterator[UnitFinding]:
    """Stale entries of the baselines whose files have all been linted."""
    for path, each in baselines.files.items():
        if path in baselines.covered:
            governed = [file for file, by in baselines.governing.items() if by == path]
            settings = settings_of(workspace, governed)
            setting = workspace.settings.index(settings[0])
            yield from (UnitFinding(finding, setting) for finding in _stale(each, left[path], settings))


def _stale(file: BaselineFile, left: Counter[Key], settings: Sequence[Setting]) -> Iterator[Finding]:
    for entry in stale_entries(file.baseline, left, common_codes(settings), file.text):
        for rule in settings[0].rules.of(BASELINE):
            for violation in rule.check(entry, Context(path=file.shown)):
                found = finding_of(rule, violation, locate(violation, file.shown))
                yield from settings[0].selection.apply([found])
