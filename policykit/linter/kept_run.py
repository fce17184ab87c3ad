"""A run compared with a revision, kept so that a later one of which few files differ goes on from it.

Only plain runs are kept: files that no build uses, without suppressions, baselines and fixes. Of a later run,
the changed files are linted, the rules about scopes whose facts have changed run again, and findings
are paired again with those of the revision where one of the same subject has come or gone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain

from policykit.linter.baseline import Key, Locate, key_of
from policykit.linter.baseline_pass import new_of, pairs_of, subject_of
from policykit.linter.finding import NotJudged, Report
from policykit.linter.input_file import InputFile
from policykit.linter.run import UnitFindings, select
from policykit.linter.scope import may_have_findings
from policykit.linter.unit import UnitFinding
from policykit.linter.workspace import Options, Run, Workspace
from policykit.namedtuple import NamedTuple

OTHERS = -1
"""Origin of findings that come neither from a file by itself nor from a rule about scopes. Those of a file
have its index, those of a rule a smaller number: see `of_rule`."""


class KeptRule(NamedTuple):
    """A rule about scopes that ran."""

    scope: str
    setting: int
    code: str
    asked: frozenset[str]
    """The names of the types of facts that it asked for."""
    subjects: tuple[int, ...]
    """Numbers of the subjects of its findings."""


class KeptScope(NamedTuple):
    """A scope of which all files were read."""

    name: str
    files: tuple[int, ...]
    """Their indices, in their order: of the run's files, or after these of those beside the run."""
    stating: int
    """Number of files of the run at whose facts findings may be reported."""
    complete: bool


class KeptSubject(NamedTuple):
    """The findings about one subject: no others are paired with each other."""

    found: tuple[tuple[int, UnitFinding], ...]
    """With their origins."""
    earlier: tuple[tuple[Key, str, int], ...]
    """Number of each finding of the revision per file."""
    gone: frozenset[str]
    """Those of these files that no longer exist."""


class KeptRun(NamedTuple):
    """Everything of a run but the findings that the revision had."""

    sources: tuple[str, ...]
    """Of the settings, as `SettingsTable` has them."""
    folders: tuple[str, ...]
    """For each setting a folder whose files have it; empty: no file has the first one."""
    clusters: tuple[str, ...]
    """Name of each setting's cluster in keys of findings."""
    input_files: tuple[InputFile, ...]
    beside: tuple[str, ...]
    """Paths of further files that were read for their facts."""
    keys: tuple[bytes, ...]
    """Keys of the results of all these files in the cache."""
    scopes: tuple[KeptScope, ...]
    rules: tuple[KeptRule, ...]
    rendered: Mapping[str, Mapping[int, str]]
    """Templates that documents of a file were rendered from, by its path."""
    subjects: tuple[tuple[int, ...], ...]
    """Numbers of the subjects of findings in each file of the run."""
    new: tuple[UnitFinding, ...]
    """The findings that the revision did not have."""
    known: int
    """Number of findings that it had."""
    report: Report
    """Without findings."""
    not_judged: tuple[NotJudged, ...]
    """As `Workspace` has them."""


class Kept(NamedTuple):
    """A run to keep, and its findings by subject, each with the number of the subject as its position."""

    run: KeptRun
    subjects: Mapping[Key, KeptSubject]


def of_rule(number: int) -> int:
    """The origin of findings of a rule with this index."""
    return -2 - number


def keep(
    run: Run, found: UnitFindings, sources: Sequence[str], folder_of: Callable[[str], str]
) -> Kept | None:
    """What a later run goes on from; None: the run is none of those that are kept. `folder_of`: the absolute
    folder of a file."""
    workspace, judged = run.workspace, found.judgement.judged
    earlier = workspace.earlier
    if earlier is None or not _is_plain(workspace, run.options, found):
        return None
    numbers = {each.input_file.path: number for number, each in enumerate(judged)}
    keys = [each.key for each in judged]
    read = found.judgement.scopes.read
    for path, key in chain.from_iterable(each.keys.items() for each in read.values()):
        if path not in numbers:
            numbers[path] = len(keys)
            keys.append(key)
    settings = {each.input_file.setting: each.input_file.file for each in reversed(judged)}
    used = len({*settings, 0}) == len(workspace.settings)
    if len(numbers) != len(keys) or not all(keys) or not used:
        return None
    subjects: dict[Key, list[tuple[int, UnitFinding]]] = {}
    origins: dict[int, dict[int, None]] = {}
    places: list[dict[int, None]] = [{} for _ in judged]
    every: list[UnitFinding] = []
    order: dict[Key, int] = {}
    then: dict[Key, list[tuple[Key, str, int]]] = {}
    for (of, path), amount in earlier.amounts.items():
        then.setdefault(subject_of(of), []).append((of, path, amount))
    for origin, one in _with_origins(run, found, numbers):
        subject = subject_of_finding(one, earlier.locate)
        place = numbers.get(one.finding.path, len(judged))
        if place >= len(judged):
            return None
        number = order.setdefault(subject, len(order))
        subjects.setdefault(subject, []).append((origin, one))
        origins.setdefault(origin, {})[number] = None
        places[place][number] = None
        every.append(one)
    for subject in then:
        order.setdefault(subject, len(order))
    new, known = new_of(pairs_of(every, earlier), ())
    rules = tuple(
        KeptRule(each.scope, each.setting, each.code, each.asked, tuple(origins.get(of_rule(number), ())))
        for number, each in enumerate(found.judgement.rules)
    )
    kept = KeptRun(
        tuple(sources),
        tuple(
            folder_of(settings[number]) if number in settings else ""
            for number in range(len(workspace.settings))
        ),
        earlier.clusters,
        tuple(each.input_file for each in judged),
        tuple(numbers)[len(judged) :],
        tuple(keys),
        tuple(_scopes(found, numbers)),
        rules,
        {each.input_file.path: each.result.sources for each in judged if each.result.sources},
        tuple(tuple(each) for each in places),
        new,
        known,
        found.report,
        workspace.not_judged,
    )
    by_subject = {}
    for subject in order:
        amounts = tuple(then.get(subject, ()))
        gone = frozenset(path for _, path, _ in amounts if path in earlier.gone)
        by_subject[subject] = KeptSubject(tuple(subjects.get(subject, ())), amounts, gone)
    return Kept(kept, by_subject)


def _is_plain(workspace: Workspace, options: Options, found: UnitFindings) -> bool:
    special = (
        options.fixes,
        workspace.builds,
        workspace.failed_builds,
        workspace.owners,
        workspace.baselines,
        workspace.incomplete,
        found.report.failures,
        found.report.dropped,
        found.judgement.suppressed,
    )
    judged = found.judgement.judged
    return not any(special) and all(
        each.first and each.settings == (each.input_file.setting,) and not each.input_file.only
        for each in judged
    )


def _with_origins(
    run: Run, found: UnitFindings, numbers: Mapping[str, int]
) -> Iterator[tuple[int, UnitFinding]]:
    """The selected findings of a run, each with its origin."""
    _, _, files, rules, others, _ = found.judgement
    for one in files:
        yield from ((numbers[one.finding.path], kept) for kept in select(run, [one]))
    rendered = {each.input_file.path: each.result.sources for each in found.judgement.judged}
    for number, each in enumerate(rules):
        for one in each.findings:
            yield from ((of_rule(number), kept) for kept in select(run, [with_source(one, rendered)]))
    yield from ((OTHERS, one) for one in select(run, others))


def with_source(one: UnitFinding, rendered: Mapping[str, Mapping[int, str]]) -> UnitFinding:
    """A finding with the template that its document was rendered from."""
    source = rendered.get(one.finding.path, {}).get(one.finding.document, "")
    return one._replace(finding=one.finding._replace(source=source)) if source else one


def subject_of_finding(one: UnitFinding, locate: Locate) -> Key:
    """What a finding is about."""
    return subject_of(key_of(one.finding, locate))


def _scopes(found: UnitFindings, numbers: Mapping[str, int]) -> Iterator[KeptScope]:
    scopes = found.judgement.scopes
    for name, read in scopes.read.items():
        stating = sum(map(may_have_findings, scopes.known.facts.get(name, {}).values()))
        yield KeptScope(name, tuple(numbers[path] for path in read.facts), stating, read.complete)
