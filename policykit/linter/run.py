"""Many files through the engine: worker processes, then the rules about whole scopes."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from policykit.errors import SourceError
from policykit.linter.engine import FileResult, Job, fixes_of, lint_file
from policykit.linter.finding import Finding, Report, TextFix
from policykit.linter.reader import decode
from policykit.linter.registry import SCOPE, RuleSet
from policykit.linter.rule import AnyRule, Context
from policykit.linter.scope import Fact, ScopeViolation, scope_of
from policykit.linter.selection import Selection
from policykit.linter.suppression import Suppressed, sift
from policykit.linter.systems import Systems

if TYPE_CHECKING:
    from policykit.model.cluster import Cluster


_WORTH_WORKERS = 400_000
"""Bytes of manifests below which starting processes costs more than it saves."""


class Setting(NamedTuple):
    """What governs a group of files: a policy or none, and the rules chosen under it."""

    rules: RuleSet
    selection: Selection
    cluster: Cluster | None = None
    namespace: str = "default"


class Member(NamedTuple):
    """A file of the run."""

    path: str
    """As reported."""
    file: str
    """As opened."""
    scope: str
    """Files of one scope see each other in cross-document rules; empty: no scope at all."""
    setting: int
    """Index into the run's settings."""
    partial: bool = False
    """A kustomization lists it as a patch."""
    namespace: str = ""
    """Where its objects without a namespace stand; empty: where the setting says."""


class Run(NamedTuple):
    """Everything a run needs; `read` and `surroundings` are the only ways to the disk."""

    members: tuple[Member, ...]
    settings: tuple[Setting, ...]
    systems: Systems
    read: Callable[[str], bytes]
    surroundings: Callable[[str], Iterable[Member]]
    """All files of a scope, those of the run among them."""
    sizes: tuple[int, ...] = ()
    """Bytes of each member, for spreading work; empty: unknown."""
    fixes: bool = False
    """Compute the fixes of findings."""
    today: str = ""
    """YYYY-MM-DD, what suppressions with an end are held against; empty: none has ended."""


class _Outcome(NamedTuple):
    """One file's result, or why it could not be read."""

    result: FileResult
    failure: str = ""


def run(work: Run, workers: int = 0) -> Report:
    """Lints every member. Findings are sorted; the number of workers changes nothing in them."""
    findings: list[Finding] = []
    facts: dict[str, list[Fact]] = {}
    suppressions: dict[str, tuple[Suppressed, ...]] = {}
    skipped: list[tuple[str, str]] = []
    failures: list[str] = []
    dropped: list[str] = []
    documents = hidden = 0
    for member, (result, failure) in zip(work.members, _outcomes(work, workers), strict=True):
        if failure:
            failures.append(failure)
        findings.extend(work.settings[member.setting].selection.apply(result.findings))
        documents += result.documents
        hidden += result.suppressed
        dropped.extend(result.dropped)
        if result.skipped:
            skipped.append((member.path, result.skipped))
        if result.facts:
            facts.setdefault(member.scope or _alone(member), []).extend(result.facts)
        if result.suppressions:
            suppressions[member.path] = result.suppressions
    for finding, setting in _about_scopes(work, facts, dropped):
        kept, suppressions[finding.path] = sift([finding], suppressions.get(finding.path, ()))
        hidden += not kept
        findings.extend(setting.selection.apply(kept))
    findings.extend(_about_suppressions(work, suppressions, dropped))
    return Report(
        tuple(sorted({f._replace(fix=None): f for f in findings}.values(), key=Finding.sort_key)),
        len(work.members),
        documents,
        tuple(skipped),
        tuple(failures),
        hidden,
        max((setting.rules.silent for setting in work.settings), default=0),
        tuple(dropped),
    )


def _alone(member: Member) -> str:
    """Key of a file that stands in no scope; no folder has such a name."""
    return f"\0{member.path}"


def _about_scopes(
    work: Run, facts: dict[str, list[Fact]], dropped: list[str]
) -> Iterator[tuple[Finding, Setting]]:
    """Rules about whole scopes, over what the run has read and what stands beside it."""
    settings = {member.scope or _alone(member): member.setting for member in work.members}
    reported = {member.path: member for member in work.members}
    for name in sorted(facts):
        setting = work.settings[settings[name]]
        whole = not name.startswith("\0")
        beside = [m for m in work.surroundings(name) if m.path not in reported] if whole else []
        others = [fact for member in beside for fact in _attempt(work, member).result.facts]
        scope = scope_of([*facts[name], *others], complete=whole)
        context = Context(setting.cluster, "", setting.namespace)
        for rule in setting.rules.of(SCOPE):
            for violation in rule.check(scope, context):
                member = reported.get(violation.located.path)
                if member is not None:
                    yield _finding(work, member, rule, violation, dropped), setting


def _finding(
    work: Run, member: Member, rule: AnyRule, violation: ScopeViolation, dropped: list[str]
) -> Finding:
    where = violation.located
    place = where.place(violation.field)
    return Finding(
        where.path,
        place.span,
        rule.code,
        rule.name,
        violation.severity or rule.severity,
        violation.message,
        violation.help,
        where.document,
        where.resource,
        place.pointer,
        _fix(work, member, rule, violation, dropped) if work.fixes and violation.fix else None,
        place.field,
    )


def _fix(
    work: Run, member: Member, rule: AnyRule, violation: ScopeViolation, dropped: list[str]
) -> TextFix | None:
    """The fix of a finding about a scope: its file is read once more."""
    from policykit.linter.fixes import Place

    raw = work.read(member.file)
    fixes = fixes_of(member.path, decode(raw).text, raw)
    where = violation.located
    made = fixes.at(rule.code, where.place(violation.field).span, Place(where.document), violation.fix)
    dropped.extend(fixes.dropped)
    return made


def _about_suppressions(
    work: Run, suppressions: dict[str, tuple[Suppressed, ...]], dropped: list[str]
) -> Iterator[Finding]:
    """What rules say of suppressions; those hide nothing of it."""
    for member in work.members:
        asked = suppressions.get(member.path, ())
        if not asked:
            continue
        from policykit.linter.housekeeping import judged

        rules, selection, cluster, namespace = work.settings[member.setting]
        context = Context(cluster, member.path, namespace)
        fixes = None
        if work.fixes:
            raw = work.read(member.file)
            fixes = fixes_of(member.path, decode(raw).text, raw)
        found = judged(asked, rules, context, scoped=bool(member.scope), fixes=fixes)
        yield from selection.apply(found)
        dropped.extend(fixes.dropped if fixes else ())


def _outcomes(work: Run, workers: int) -> Iterator[_Outcome]:
    wanted = workers or os.cpu_count() or 1
    if min(wanted, len(work.members)) < 2 or (not workers and sum(work.sizes) < _WORTH_WORKERS):
        for member in work.members:
            yield _attempt(work, member)
        return
    yield from _in_parallel(work, min(wanted, len(work.members)))


def _attempt(work: Run, member: Member) -> _Outcome:
    setting = work.settings[member.setting]
    try:
        raw = work.read(member.file)
    except SourceError as error:
        return _Outcome(FileResult(), str(error))
    namespace = member.namespace or setting.namespace
    job = Job(member.path, setting.cluster, member.partial, namespace, work.fixes, work.today)
    return _Outcome(lint_file(job, raw, setting.rules, work.systems))


_work: list[Run] = []
"""The run of this worker process, set once when it starts."""


def _start(work: Run) -> None:
    import signal

    # An interrupt ends the main process, which ends its workers; they must not answer it too.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _work.append(work)


def _chunk(span: tuple[int, int]) -> list[_Outcome]:
    work = _work[-1]
    return [_attempt(work, member) for member in work.members[span[0] : span[1]]]


def _in_parallel(work: Run, workers: int) -> Iterator[_Outcome]:
    import multiprocessing

    # fork shares rules and policy without sending them; elsewhere they are sent once.
    methods = multiprocessing.get_all_start_methods()
    context = multiprocessing.get_context("fork" if "fork" in methods else None)
    with context.Pool(workers, _start, (work,)) as pool:
        for outcomes in pool.imap(_chunk, list(_spans(work, workers))):
            yield from outcomes


def _spans(work: Run, workers: int) -> Iterator[tuple[int, int]]:
    """Runs of neighbouring files, of about equal size, several for each worker."""
    sizes: Sequence[int] = work.sizes or (1,) * len(work.members)
    share = max(1, sum(sizes) // (workers * 8))
    start = gathered = 0
    for position, size in enumerate(sizes):
        gathered += size
        if gathered >= share or position - start >= 200:
            yield start, position + 1
            start, gathered = position + 1, 0
    if start < len(sizes):
        yield start, len(sizes)
