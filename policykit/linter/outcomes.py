"""Each file of a run through the engine: in worker processes, or as it was remembered."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from functools import partial
from typing import NamedTuple

from policykit.errors import PolicykitError, SourceError, failure_of
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
    wanted = min(workers or os.cpu_count() or 1, len(work.members)) if hasattr(os, "fork") else 1
    if wanted < 2 or (not workers and sum(work.sizes) < _WORTH_WORKERS):
        found: Iterator[Outcome] = (_attempt(work, member) for member in work.members)
    else:
        from policykit.linter.workers import answers

        lean = work._replace(policies=())
        parts = [*_parts(work, wanted)]
        made = answers(partial(_attempts, lean), parts, wanted, partial(_lost, lean))
        found = (outcome for each in made for outcome in each)
    return (_remembered(work, outcome, member) for outcome, member in zip(found, work.members, strict=True))


def told(work: Run, member: Member) -> Outcome:
    """What a file beside those of the run gives."""
    return _remembered(work, _attempt(work, member), member)


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
    """What a file gives, or why it gives nothing: no file ends a run."""
    try:
        return _looked_at(work, member)
    except Exception as error:
        return _failed(failure_of(error, member.path))


def _failed(error: PolicykitError) -> Outcome:
    return Outcome(FileResult(), str(error))


def _looked_at(work: Run, member: Member) -> Outcome:
    setting = work.settings[member.setting]
    raw = work.read(member.file)
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


def _attempts(work: Run, part: range) -> list[Outcome]:
    return [_attempt(work, work.members[number]) for number in part]


def _lost(work: Run, number: int, why: str) -> Outcome:
    hint = "see whether there is enough memory: fewer --jobs take less"
    return _failed(SourceError(why, hint, work.members[number].path))


def _parts(work: Run, workers: int) -> Iterator[range]:
    """Runs of neighbouring files, of about equal size, several for each worker."""
    sizes: Sequence[int] = work.sizes or (1,) * len(work.members)
    share = max(1, sum(sizes) // (workers * 8))
    start = gathered = 0
    for position, size in enumerate(sizes):
        gathered += size
        if gathered >= share or position - start >= 200:
            yield range(start, position + 1)
            start, gathered = position + 1, 0
    if start < len(sizes):
        yield range(start, len(sizes))
