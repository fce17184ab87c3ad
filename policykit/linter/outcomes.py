"""Each file of a run through the engine: in worker processes, or as it was remembered."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from policykit.errors import SourceError
from policykit.linter.engine import FileResult, Job, lint_file
from policykit.linter.member import BUILT, READ, Member
from policykit.linter.plan import Run

_WORTH_WORKERS = 400_000
"""Bytes of manifests below which starting processes costs more than it saves."""


class Outcome(NamedTuple):
    """One file's result, or why it could not be read."""

    result: FileResult
    failure: str = ""
    key: bytes = b""
    """What it is remembered by; empty: it is not."""
    frozen: bytes = b""
    """The result, where it stands in bytes only: what a worker process sends."""


def outcomes(work: Run, workers: int) -> Iterator[Outcome]:
    # Workers are forked: they share rules and policy. A Python started anew would import from the current
    # folder, which is a checkout.
    wanted = (workers or os.cpu_count() or 1) if hasattr(os, "fork") else 1
    if min(wanted, len(work.members)) < 2 or (not workers and sum(work.sizes) < _WORTH_WORKERS):
        found: Iterator[Outcome] = (_attempt(work, member) for member in work.members)
    else:
        found = _in_parallel(work, min(wanted, len(work.members)))
    return (_remembered(work, outcome, member) for outcome, member in zip(found, work.members, strict=True))


def told(work: Run, member: Member) -> FileResult:
    """What a file beside those of the run gives."""
    return _remembered(work, _attempt(work, member), member).result


def _remembered(work: Run, outcome: Outcome, member: Member) -> Outcome:
    """An outcome with its result, which is kept for the next run."""
    if not outcome.key or work.memory is None:
        return outcome
    from policykit.linter.memory import result

    found = result(outcome.frozen)
    if found is None:
        # What was kept is damaged.
        return _attempt(work._replace(memory=None), member)
    work.memory.keep(outcome.key, outcome.frozen)
    return outcome._replace(result=found)


def _attempt(work: Run, member: Member) -> Outcome:
    setting = work.settings[member.setting]
    try:
        raw = work.read(member.file)
    except SourceError as error:
        return Outcome(FileResult(), str(error))
    namespace = member.namespace or setting.namespace
    fixes = work.fixes and member.look != BUILT
    job = Job(
        member.path,
        setting.cluster,
        member.partial,
        namespace,
        fixes,
        work.today,
        setting.served,
        member.look,
        setting.plugins,
    )
    rules = setting.rules.part(reading=member.look == READ) if member.look else setting.rules
    memory = work.memory
    if memory is None or setting.mark is None:
        return Outcome(lint_file(job, raw, rules, work.systems))
    key = memory.key(job, setting.mark, raw)
    kept = memory.recall(key)
    if kept is None:
        from policykit.pickles import frozen

        kept = frozen(lint_file(job, raw, rules, work.systems))
    return Outcome(_UNREAD, "", key, kept)


_UNREAD = FileResult()


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


def _chunk(span: tuple[int, int]) -> list[Outcome]:
    work = _work[-1]
    return [_attempt(work, member) for member in work.members[span[0] : span[1]]]


def _in_parallel(work: Run, workers: int) -> Iterator[Outcome]:
    import multiprocessing

    with multiprocessing.get_context("fork").Pool(workers, _start, (work._replace(policies=()),)) as pool:
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
