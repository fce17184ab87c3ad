"""Lints the files of a run, in worker processes if that is faster, or takes results from the cache."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from functools import partial

from policykit.errors import PolicykitError, SourceError, failure_of
from policykit.linter.engine import FileResult, Job, lint_file
from policykit.linter.input_file import OBJECTS, TEXT, InputFile
from policykit.linter.registry import NO_RULES
from policykit.linter.scope import AnyFact, StoredFacts, decoded
from policykit.linter.workspace import Options, Run, Setting
from policykit.namedtuple import NamedTuple

_WORTH_WORKERS = 400_000
"""Bytes of manifests below which starting processes costs more than it saves."""
_USUAL = 2_000
"""Bytes of a manifest of unknown size."""
_BATCH = 32
"""Number of files whose results are encoded and decoded together, which is faster than one by one."""


class InputFileResult(NamedTuple):
    """One file's result, or why it could not be read."""

    result: FileResult
    failure: str = ""
    key: bytes = b""
    """Key of the result in the cache; empty: it is not there."""


class _Attempt(NamedTuple):
    """The result of trying to lint one file."""

    result: FileResult | None = None
    """None: only the encoded result is known."""
    failure: str = ""
    key: bytes = b""
    """Key of the result in the cache; empty: it is not cached."""
    entry: bytes = b""
    """The result as bytes."""


def lint_input_files(
    run: Run, input_files: Sequence[InputFile], sizes: Sequence[int]
) -> Iterator[InputFileResult]:
    """The result of every file, in order; `sizes`: bytes of each, empty if unknown."""
    known = _known(run, input_files)
    left = [number for number, attempt in enumerate(known) if attempt is None]
    new = _new(run, [input_files[n] for n in left], [sizes[n] for n in left] if sizes else ())
    for start in range(0, len(input_files), _BATCH):
        attempts = [attempt or next(new) for attempt in known[start : start + _BATCH]]
        yield from _outcomes(run, input_files[start : start + _BATCH], attempts)


class FileFacts(NamedTuple):
    """What one file states, or why it could not be read."""

    facts: Sequence[AnyFact | StoredFacts]
    failure: str = ""
    key: bytes = b""
    """Key of the result in the cache; empty: it is not there."""


def read_facts(run: Run, input_files: Sequence[InputFile]) -> Iterator[FileFacts]:
    """What files state that are not linted, in order."""
    workspace = run.workspace.remembered(run.workspace)
    options = run.options._replace(fixes=False, today="")
    reading = Run(workspace, options, run.targets, facts_only=True)
    known = _known(reading, input_files)
    left = [each for each, attempt in zip(input_files, known, strict=True) if attempt is None]
    new = _new(reading, left, (_USUAL,) * len(left))
    for input_file, found in zip(input_files, known, strict=True):
        attempt = found or next(new)
        key = attempt.key if attempt.entry and workspace.cache else b""
        if key and workspace.cache:
            workspace.cache.keep(key, attempt.entry)
        if attempt.result is None and workspace.cache:
            again = partial(_facts_again, reading, input_file)
            yield FileFacts((workspace.cache.facts(attempt.entry, input_file.path, again),), "", key)
        else:
            yield FileFacts(attempt.result.facts if attempt.result else (), attempt.failure, key)


def _facts_again(run: Run, input_file: InputFile) -> Sequence[AnyFact]:
    """The facts of a file whose cached result is damaged."""
    result = _attempt(_uncached(run), input_file).result
    return [*decoded(result.facts)] if result else ()


def lint_input_file(run: Run, input_file: InputFile) -> InputFileResult:
    """The result of one file, which may be outside the run."""
    (outcome,) = _outcomes(run, [input_file], _encoded(run, [_attempt(run, input_file)]))
    return outcome


def _known(run: Run, input_files: Sequence[InputFile]) -> Sequence[_Attempt | None]:
    """Results of earlier runs, looked up in this process: to start others takes longer."""
    if not run.workspace.cache:
        return (None,) * len(input_files)
    found: list[_Attempt | None] = []
    for input_file in input_files:
        try:
            attempt = _cached(run, input_file, run.workspace.read(input_file.file))
        except Exception:
            attempt = _Attempt()  # the failure comes up again when the file is linted
        found.append(attempt if attempt.entry else None)
    return found


def _new(run: Run, input_files: Sequence[InputFile], sizes: Sequence[int]) -> Iterator[_Attempt]:
    """Results that are not known yet, in order."""
    workers = run.options.workers
    # Workers are forked: they share rules and policy. A Python started anew would import from the current
    # folder, which is a checkout.
    wanted = min(workers or os.cpu_count() or 1, len(input_files)) if hasattr(os, "fork") else 1
    if wanted < 2 or (not workers and sum(sizes) < _WORTH_WORKERS):
        for start in range(0, len(input_files), _BATCH):
            yield from _attempts(run, input_files, range(start, min(start + _BATCH, len(input_files))))
        return
    from policykit.linter.workers import results

    parts = [*_parts(sizes or (1,) * len(input_files), wanted)]
    for found in results(partial(_attempts, run, input_files), parts, wanted, partial(_lost, input_files)):
        yield from found


def _outcomes(
    run: Run, input_files: Sequence[InputFile], attempts: Sequence[_Attempt]
) -> Iterator[InputFileResult]:
    """The results of attempts; new ones are stored for the next run."""
    cache = run.workspace.cache
    numbers = [number for number, attempt in enumerate(attempts) if attempt.result is None]
    known: dict[int, FileResult | None] = {}
    if numbers and cache:
        entries = [attempts[number].entry for number in numbers]
        found = cache.decode(entries, [input_files[number].path for number in numbers])
        known = dict(zip(numbers, found, strict=True))
    for number, (input_file, attempt) in enumerate(zip(input_files, attempts, strict=True)):
        result = attempt.result or known.get(number)
        if result is None:
            # The cached result is damaged.
            result, failure, _, _ = _attempt(_uncached(run), input_file)
            yield InputFileResult(result or FileResult(), failure)
            continue
        key = attempt.key if attempt.entry and cache else b""
        if key and cache:
            cache.keep(key, attempt.entry)
        yield InputFileResult(result, attempt.failure, key)


def _uncached(run: Run) -> Run:
    return run._replace(workspace=run.workspace._replace(cache=None))


_UNKNOWN = _Attempt()


def _attempts(run: Run, input_files: Sequence[InputFile], part: range) -> list[_Attempt]:
    return _encoded(run, [_attempt(run, input_files[number]) for number in part])


def _encoded(run: Run, attempts: list[_Attempt]) -> list[_Attempt]:
    """Adds the encoded form of new results."""
    new = {n: each.result for n, each in enumerate(attempts) if each.key and each.result is not None}
    cache = run.workspace.cache
    if new and cache:
        for number, entry in zip(new, cache.encode([*new.values()]), strict=True):
            attempts[number] = attempts[number]._replace(entry=entry)
    return attempts


def _attempt(run: Run, input_file: InputFile) -> _Attempt:
    """The result of a file, or its failure: no file aborts a run."""
    try:
        return _judged(run, input_file)
    except Exception as error:
        if isinstance(error, PolicykitError) and error.place == input_file.file:
            error.place = input_file.path  # as findings show it
        return _failed(failure_of(error, input_file.path))


def _failed(error: PolicykitError) -> _Attempt:
    return _Attempt(FileResult(), str(error))


def _judged(run: Run, input_file: InputFile) -> _Attempt:
    contents = [run.workspace.read(input_file.file)]
    attempt = _cached(run, input_file, contents[0])
    if attempt.entry:
        return attempt
    setting = run.workspace.settings[input_file.setting]
    rules = setting.rules.part(reading=input_file.only == TEXT) if input_file.only else setting.rules
    job = _job(run.options, input_file, setting)
    # Nobody else has the bytes of a file, which may be large: they are gone once they are decoded.
    rules = NO_RULES if run.facts_only else rules
    result = lint_file(job, contents.pop(), rules, run.targets, run.workspace.large_file_facts)
    return _Attempt(result, attempt.failure, attempt.key)


def _cached(run: Run, input_file: InputFile, raw: bytes) -> _Attempt:
    """The result of an earlier run, or only its key; neither if results are not cached."""
    setting = run.workspace.settings[input_file.setting]
    cache = run.workspace.cache
    if cache is None or setting.fingerprint is None:
        return _UNKNOWN
    key = cache.key(
        _job(run.options, input_file, setting), setting.fingerprint, raw, facts_only=run.facts_only
    )
    return _Attempt(None, "", key, cache.find(key))


def _job(options: Options, input_file: InputFile, setting: Setting) -> Job:
    return Job(
        input_file.path,
        setting.cluster,
        input_file.partial,
        input_file.namespace or setting.namespace,
        options.fixes and input_file.only != OBJECTS,
        options.today,
        setting.served,
        input_file.only,
        setting.plugins,
        input_file.components,
        input_file.origins,
        input_file.literal,
        input_file.inlined,
    )


def _lost(input_files: Sequence[InputFile], number: int, why: str) -> _Attempt:
    hint = "check whether there is enough memory: fewer --jobs need less"
    return _failed(SourceError(why, hint, input_files[number].path))


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
