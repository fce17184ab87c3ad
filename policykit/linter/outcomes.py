"""Each file of a run through the engine, in worker processes where that pays, or from the cache."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from policykit.errors import SourceError
from policykit.linter.engine import FileResult, Job, lint_file
from policykit.linter.member import BUILT, READ, Member
from policykit.linter.plan import Run, Setting

_WORTH_WORKERS = 400_000
"""Bytes of manifests below which starting processes costs more than it saves."""
_BATCH = 32
"""Files whose results are encoded and decoded together, which is quicker than one by one."""


class Outcome(NamedTuple):
    """One file's result, or why it could not be read."""

    result: FileResult
    failure: str = ""


class _Attempt(NamedTuple):
    """What a process knows of one file."""

    result: FileResult | None = None
    """None: it is known as bytes."""
    failure: str = ""
    key: bytes = b""
    """Of the result in the cache; empty: it does not go there."""
    entry: bytes = b""
    """The result as bytes."""


def outcomes(work: Run, workers: int) -> Iterator[Outcome]:
    """Of every member, in their order."""
    wanted = workers or os.cpu_count() or 1
    if min(wanted, len(work.members)) < 2 or (not workers and sum(work.sizes) < _WORTH_WORKERS):
        spans = [(start, start + _BATCH) for start in range(0, len(work.members), _BATCH)]
        attempts: Iterator[list[_Attempt]] = (_attempts(work, span) for span in spans)
    else:
        spans = list(_spans(work, min(wanted, len(work.members))))
        attempts = _in_parallel(work, min(wanted, len(work.members)), spans)
    for (start, end), found in zip(spans, attempts, strict=True):
        yield from _outcomes(work, work.members[start:end], found)


def result_of(work: Run, member: Member) -> FileResult:
    """What a file beside those of the run gives."""
    (outcome,) = _outcomes(work, [member], _encoded(work, [_attempt(work, member)]))
    return outcome.result


def _outcomes(work: Run, members: Sequence[Member], attempts: Sequence[_Attempt]) -> Iterator[Outcome]:
    """Attempts with their results, which are left to the next run."""
    numbers = [number for number, attempt in enumerate(attempts) if attempt.result is None]
    known: dict[int, FileResult | None] = {}
    if numbers and work.cache:
        entries = [attempts[number].entry for number in numbers]
        found = work.cache.decode(entries, [members[number].path for number in numbers])
        known = dict(zip(numbers, found, strict=True))
    for number, (member, attempt) in enumerate(zip(members, attempts, strict=True)):
        result = attempt.result or known.get(number)
        if result is None:
            # What the cache has of it is damaged.
            result, failure, _, _ = _attempt(work._replace(cache=None), member)
            yield Outcome(result or FileResult(), failure)
            continue
        if attempt.entry and work.cache:
            work.cache.keep(attempt.key, attempt.entry)
        yield Outcome(result, attempt.failure)


def _attempts(work: Run, span: tuple[int, int]) -> list[_Attempt]:
    return _encoded(work, [_attempt(work, member) for member in work.members[span[0] : span[1]]])


def _encoded(work: Run, attempts: list[_Attempt]) -> list[_Attempt]:
    """With new results as bytes, too."""
    new = {n: each.result for n, each in enumerate(attempts) if each.key and each.result is not None}
    if new and work.cache:
        for number, entry in zip(new, work.cache.encode([*new.values()]), strict=True):
            attempts[number] = attempts[number]._replace(entry=entry)
    return attempts


def _attempt(work: Run, member: Member) -> _Attempt:
    setting = work.settings[member.setting]
    try:
        raw = work.read(member.file)
    except SourceError as error:
        return _Attempt(FileResult(), str(error))
    job = _job(work, member, setting)
    key = b""
    if work.cache is not None and setting.fingerprint is not None:
        key = work.cache.key(job, setting.fingerprint, raw)
        entry = work.cache.find(key)
        if entry:
            return _Attempt(None, "", key, entry)
    rules = setting.rules.part(reading=member.look == READ) if member.look else setting.rules
    return _Attempt(lint_file(job, raw, rules, work.systems), "", key)


def _job(work: Run, member: Member, setting: Setting) -> Job:
    return Job(
        member.path,
        setting.cluster,
        member.partial,
        member.namespace or setting.namespace,
        work.fixes and member.look != BUILT,
        work.today,
        setting.served,
        member.look,
        setting.plugins,
    )


_work: list[Run] = []
"""The run of this worker process, set once when it starts."""


def _start(work: Run) -> None:
    import gc
    import signal

    # An interrupt ends the main process, which ends its workers; they must not answer it too.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # What files leave behind has no cycles: looking for some after every few hundred nodes finds nothing.
    gc.freeze()
    gc.set_threshold(50_000)
    _work.append(work)


def _chunk(span: tuple[int, int]) -> list[_Attempt]:
    return _attempts(_work[-1], span)


def _in_parallel(work: Run, workers: int, spans: Sequence[tuple[int, int]]) -> Iterator[list[_Attempt]]:
    import multiprocessing

    # fork shares rules and policy without sending them; elsewhere they are sent once.
    methods = multiprocessing.get_all_start_methods()
    context = multiprocessing.get_context("fork" if "fork" in methods else None)
    with context.Pool(workers, _start, (work._replace(policies=()),)) as pool:
        yield from pool.imap(_chunk, spans)


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
