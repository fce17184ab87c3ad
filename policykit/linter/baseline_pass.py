"""The pass over baselines: the findings that they, or an earlier revision, have, and stale entries."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Sequence

from policykit.linter.baseline import STALE, BaselineFile, Baselines, Key, Locate, key_of, stale_entries
from policykit.linter.finding import Finding
from policykit.linter.registry import BASELINE
from policykit.linter.rule import Context
from policykit.linter.unit import UnitFinding
from policykit.linter.violations import finding_of, locate
from policykit.linter.workspace import EarlierFindings, Setting, Workspace
from policykit.namedtuple import NamedTuple


class BaselineResult(NamedTuple):
    """The findings that no baseline accepts."""

    findings: tuple[UnitFinding, ...]
    amount: int = 0
    """Number of accepted findings; a finding that several units share counts once."""


class FindingGroup(NamedTuple):
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
    numbers = {input_file.setting for input_file in workspace.input_files if input_file.path in wanted}
    return [workspace.settings[number] for number in sorted(numbers) or [0]]


def slots(
    found: Iterable[UnitFinding],
    clusters: Sequence[str],
    baselines: Baselines,
    locate: Locate | None = None,
) -> Iterator[FindingGroup]:
    """Groups findings by key and location; `clusters` has the name of each setting's cluster."""
    known: dict[tuple[object, ...], FindingGroup] = {}
    seen: dict[tuple[object, ...], dict[tuple[object, ...], int]] = {}
    for one in sorted(found, key=lambda one: one.finding.sort_key()):
        of = one.finding
        path = baselines.governing.get(of.path, "")
        key = key_of(of, locate or from_folder(os.path.dirname(path)), clusters[one.setting])
        place = (path, of.path, of.span, of.document, key.general())
        # A second finding of a unit at the same location counts separately, unless its message is the same.
        messages = seen.setdefault((*place, one.setting, one.build), {})
        number = messages.setdefault((of.message, of.severity), len(messages))
        slot = FindingGroup(path, key, (*place, number), [])
        known.setdefault((*slot.place, key), slot).findings.append(one)
    yield from known.values()


def _take(slot: FindingGroup, left: dict[str, Counter[Key]], shared: set[tuple[object, ...]]) -> bool:
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


class NewFindings(NamedTuple):
    """The findings that a revision did not have."""

    findings: tuple[UnitFinding, ...]
    known: int
    """Number of findings that it had."""


def earlier_amounts(
    found: Iterable[UnitFinding], clusters: Sequence[str], locate: Locate
) -> Counter[tuple[Key, str]]:
    """Number of each finding of a run, per file."""
    every = slots(found, clusters, Baselines({}, {}), locate)
    return Counter((slot.key, locate(slot.findings[0].finding.path)) for slot in every)


class Pair(NamedTuple):
    """A finding, and whether the revision had it."""

    slot: FindingGroup
    path: str
    """Its file, relative to the root."""
    is_known: bool


def new_findings(found: Iterable[UnitFinding], earlier: EarlierFindings) -> NewFindings:
    """The findings that the revision did not have, and all those of files that are reported as a whole."""
    return new_of(pairs_of(found, earlier), earlier.whole)


def new_of(pairs: Iterable[Pair], whole: Container[str]) -> NewFindings:
    """As `new_findings`; `whole`: the files that are reported as a whole, relative to the root."""
    known: set[tuple[object, ...]] = set()
    new: list[FindingGroup] = []
    for slot, path, is_known in pairs:
        if is_known and path not in whole:
            known.add(slot.place)
        else:
            new.append(slot)
    places = known - {slot.place for slot in new}
    return NewFindings(tuple(one for slot in new for one in slot.findings), len(places))


def subject_of(key: Key) -> Key:
    """What a finding is about: findings are paired only with those of the same subject."""
    return key._replace(path="", cluster="", cause="")


def pairs_of(found: Iterable[UnitFinding], earlier: EarlierFindings) -> list[Pair]:
    """Each finding with whether the revision had it. Findings are equal if rule, object, field, cluster and
    cause are, in any file and line. Of two equal findings, the one in a file that had it is known.
    """
    left = _UnpairedFindings(earlier)
    every = [*slots(found, earlier.clusters, Baselines({}, {}), earlier.locate)]
    paths = [earlier.locate(slot.findings[0].finding.path) for slot in every]
    known = [left.take(slot.key, path) for slot, path in zip(every, paths, strict=True)]
    for take in (left.take, left.take_whatever_cluster, left.take_from_gone_file):
        known = [is_known or take(slot.key) for slot, is_known in zip(every, known, strict=True)]
    return [Pair(*each) for each in zip(every, paths, known, strict=True)]


class _UnpairedFindings:
    """The findings of the revision that are not yet paired with one of this run."""

    def __init__(self, earlier: EarlierFindings) -> None:
        self._by_file = Counter(dict(earlier.amounts))
        self._by_key: Counter[Key] = Counter()
        self._without_policy: Counter[Key] = Counter()
        self._whatever: Counter[Key] = Counter()
        self._gone: Counter[Key] = Counter()
        for (key, path), amount in earlier.amounts.items():
            self._by_key[key] += amount
            bare = key._replace(cluster="")
            self._whatever[bare] += amount
            if not key.cluster:
                self._without_policy[bare] += amount
            if path in earlier.gone and key.path:
                self._gone[key._replace(path="")] += amount

    def take(self, key: Key, path: str | None = None) -> bool:
        """Pairs a finding; with `path`, only with one of the same file."""
        if self._by_key[key] <= 0 or (path is not None and self._by_file[key, path] <= 0):
            return False
        self._by_key[key] -= 1
        if path is not None:
            self._by_file[key, path] -= 1
        return True

    def take_whatever_cluster(self, key: Key) -> bool:
        """Pairs a finding of a file that had no policy, or no longer has one: a finding without a policy
        is true with any, so it is paired with those of all clusters."""
        bare = key._replace(cluster="")
        return self._without_policy[bare] > 0 if key.cluster else self._whatever[bare] > 0

    def take_from_gone_file(self, key: Key) -> bool:
        """Pairs a finding without an object with one of a file that no longer exists."""
        if not key.path or self._gone[key._replace(path="")] <= 0:
            return False
        self._gone[key._replace(path="")] -= 1
        return True
