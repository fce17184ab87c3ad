"""Lints the files of a run, in worker processes if that is faster, or takes results from the cache."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from functools import partial

from policykit.errors import PolicykitError, SourceError, failure_of
from policykit.linter.engine import FileResult, Job, lint_file
from policykit.linter.member import OBJECTS, TEXT, Member
from policykit.linter.registry import NO_RULES
from policykit.linter.workspace import Options, Run, Setting
from policykit.namedtuple import NamedTuple

_WORTH_WORKERS = 400_000
"""Bytes of manifests below which starting processes costs more than it saves."""
_USUAL = 2_000
"""Bytes of a manifest of unknown size."""
_BATCH = 32
"""Number of files whose results are encoded and decoded together, which is faster than one by one."""


class MemberResult(NamedTuple):
    """One file's result, or why it could not be read."""

    result: FileResult
    failure: str = ""


class _Attempt(NamedTuple):
    """The result of trying to lint one file."""

    result: FileResult | None = None
    """None: only the encoded result is known."""
    failure: str = ""
    key: bytes = b""
    """Key of the result in the cache; empty: it is not cached."""
    entry: bytes = b""
    """The result as bytes."""


def lint_members(run: Run, members: Sequence[Member], sizes: Sequence[int]) -> Iterator[MemberResult]:
    """The result of every member, in order; `sizes`: bytes of each, empty if unknown."""
    known = _known(run, members)
    left = [number for number, attempt in enumerate(known) if attempt is None]
    new = _new(run, [members[n] for n in left], [sizes[n] for n in left] if sizes else ())
    for start in range(0, len(members), _BATCH):
        attempts = [attempt or next(new) for attempt in known[start : start + _BATCH]]
        yield from _outcomes(run, members[start : start + _BATCH], attempts)


def read_facts(run: Run, members: Sequence[Member]) -> Iterator[MemberResult]:
    """What files state that are not linted: results without findings."""
    workspace = run.workspace.remembered(run.workspace)
    options = run.options._replace(fixes=False, today="")
    reading = Run(workspace, options, run.targets, facts_only=True)
    return lint_members(reading, members, (_USUAL,) * len(members))


def lint_member(run: Run, member: Member) -> MemberResult:
    """The result of one file, which may be outside the run."""
    (outcome,) = _outcomes(run, [member], _encoded(run, [_attempt(run, member)]))
    return outcome


def _known(run: Run, members: Sequence[Member]) -> Sequence[_Attempt | None]:
    """Results of earlier runs, looked up in this process: to start others takes longer."""
    if not run.workspace.cache:
        return (None,) * len(members)
    found: list[_Attempt | None] = []
    for member in members:
        try:
            attempt = _cached(run, member, run.workspace.read(member.file))
        except Exception:
            attempt = _Attempt()  # the failure comes up again when the file is linted
        found.append(attempt if attempt.entry else None)
    return found


def _new(run: Run, members: Sequence[Member], sizes: Sequence[int]) -> Iterator[_Attempt]:
    """Results that are not known yet, in order."""
    workers = run.options.workers
    # Workers are forked: they share rules and policy. A Python started anew would import from the current
    # folder, which is a checkout.
    wanted = min(workers or os.cpu_count() or 1, len(members)) if hasattr(os, "fork") else 1
    if wanted < 2 or (not workers and sum(sizes) < _WORTH_WORKERS):
        for start in range(0, len(members), _BATCH):
            yield from _attempts(run, members, range(start, min(start + _BATCH, len(members))))
        return
    from policykit.linter.workers import results

    parts = [*_parts(sizes or (1,) * len(members), wanted)]
    for found in results(partial(_attempts, run, members), parts, wanted, partial(_lost, members)):
        yield from found


def _outcomes(run: Run, members: Sequence[Member], attempts: Sequence[_Attempt]) -> Iterator[MemberResult]:
    """The results of attempts; new ones are stored for the next run."""
    cache = run.workspace.cache
    numbers = [number for number, attempt in enumerate(attempts) if attempt.result is None]
    known: dict[int, FileResult | None] = {}
    if numbers and cache:
        entries = [attempts[number].entry for number in numbers]
        found = cache.decode(entries, [members[number].path for number in numbers])
        known = dict(zip(numbers, found, strict=True))
    for number, (member, attempt) in enumerate(zip(members, attempts, strict=True)):
        result = attempt.result or known.get(number)
        if result is None:
            # The cached result is damaged.
            result, failure, _, _ = _attempt(_uncached(run), member)
            yield MemberResult(result or FileResult(), failure)
            continue
        if attempt.entry and cache:
            cache.keep(attempt.key, attempt.entry)
        yield MemberResult(result, attempt.failure)


def _uncached(run: Run) -> Run:
    return run._replace(workspace=run.workspace._replace(cache=None))


def _attempts(run: Run, members: Sequence[Member], part: range) -> list[_Attempt]:
    return _encoded(run, [_attempt(run, members[number]) for number in part])


def _encoded(run: Run, attempts: list[_Attempt]) -> list[_Attempt]:
    """Adds the encoded form of new results."""
    new = {n: each.result for n, each in enumerate(attempts) if each.key and each.result is not None}
    cache = run.workspace.cache
    if new and cache:
        for number, entry in zip(new, cache.encode([*new.values()]), strict=True):
            attempts[number] = attempts[number]._replace(entry=entry)
    return attempts


def _attempt(run: Run, member: Member) -> _Attempt:
    """The result of a file, or its failure: no file aborts a run."""
    try:
        return _judged(run, member)
    except Exception as error:
        return _failed(failure_of(error, member.path))


def _failed(error: PolicykitError) -> _Attempt:
    return _Attempt(FileResult(), str(error))


def _judged(run: Run, member: Member) -> _Attempt:
    raw = run.workspace.read(member.file)
    attempt = _cached(run, member, raw)
    if attempt.entry:
        return attempt
    setting = run.workspace.settings[member.setting]
    rules = setting.rules.part(reading=member.only == TEXT) if member.only else setting.rules
    job = _job(run.options, member, setting)
    return attempt._replace(result=lint_file(job, raw, NO_RULES if run.facts_only else rules, run.targets))


def _cached(run: Run, member: Member, raw: bytes) -> _Attempt:
    """The result of an earlier run, or only its key; neither if results are not cached."""
    setting = run.workspace.settings[member.setting]
    cache = run.workspace.cache
    if cache is None or setting.fingerprint is None:
        return _Attempt()
    key = cache.key(_job(run.options, member, setting), setting.fingerprint, raw, facts_only=run.facts_only)
    return _Attempt(None, "", key, cache.find(key))


def _job(options: Options, member: Member, setting: Setting) -> Job:
    return Job(
        member.path,
        setting.cluster,
        member.partial,
        member.namespace or setting.namespace,
        options.fixes and member.only != OBJECTS,
        options.today,
        setting.served,
        member.only,
        setting.plugins,
        member.components,
    )


def _lost(members: Sequence[Member], number: int, why: str) -> _Attempt:
    hint = "check whether there is enough memory: fewer --jobs need less"
    return _failed(SourceError(why, hint, members[number].path))


def _parts(sizes: Sequence[int], workers: int) -> Iterator[range]:
    """Ranges of neighbouring files of about equal size, several for each worker."""
    share = max(1, sum(sizes) // (workers * 8))
    start = gathered = 0
    for position, size in enumerate(sizes):
        gathered += size
        if gathered >= share or position - start >= 200:
            yield range(start, position + 1)
            start, gathered = position + 1, 0
    if start < len(sizes):
        yield range(start, len(sizes))
