"""The facts of scopes: of the files of a run, and of the other files of their scopes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

from policykit.errors import Failures
from policykit.linter.input_file import OBJECTS, TEXT, InputFile
from policykit.linter.lint_files import read_facts
from policykit.linter.scope import AnyFact, LocatedFact, StoredFacts, decoded
from policykit.linter.unit import UnitResult
from policykit.linter.workspace import Run
from policykit.namedtuple import NamedTuple

Facts = dict[str, Sequence[AnyFact | StoredFacts]]
"""Facts of files, by their reported paths."""

F = TypeVar("F")

MAX_BESIDE = 5_000
"""Most files of a scope that are read although they are not linted. A larger folder is not meant as a scope,
so nothing is reported about absent objects."""
NO_SCOPE = "\0"
"""Prefix of the key of a file in no scope: no folder's name begins with it."""


class ScopeFacts(NamedTuple):
    """The facts of a run's files, by scope."""

    facts: Mapping[str, Mapping[str, Sequence[AnyFact | StoredFacts]]]
    policies: Mapping[str, tuple[int, ...]]
    """The policies that judge files of a scope."""
    input_files: Mapping[str, InputFile]
    """Files and builds of the run by their reported paths."""
    judges: Mapping[str, frozenset[int]]
    """The policies that judge a file."""
    incomplete: frozenset[str]
    """Scopes with files that could not be read, which may contain objects that seem absent."""


def scope_facts(run: Run, judged: Sequence[UnitResult]) -> ScopeFacts:
    """The facts of judged files and builds: a build's objects as built, and its files as written."""
    builds = run.workspace.builds
    built = frozenset(build.input_file.scope for build in builds)
    facts: dict[str, dict[str, Sequence[AnyFact | StoredFacts]]] = {}
    policies: dict[str, dict[int, None]] = {}
    judges: dict[str, frozenset[int]] = {}
    written: dict[str, Sequence[AnyFact]] = {}
    stating: dict[str, str] = {}
    for input_file, settings, result, _, first, _ in judged:
        key = key_of(input_file)
        policies.setdefault(key, {}).update(dict.fromkeys(settings))
        judges[input_file.path] = judges.get(input_file.path, frozenset()) | frozenset(settings)
        if not first:
            continue
        if input_file.only == OBJECTS:
            facts.setdefault(input_file.scope, {})[input_file.path] = split_as_written(decoded(result.facts))[
                1
            ]
            continue
        if builds and (found := split_as_written(decoded(result.facts))[0]):
            written[input_file.path] = found
        if result.facts and not (input_file.only == TEXT and input_file.scope in built):
            facts.setdefault(key, {})[input_file.path] = result.facts
            stating[input_file.path] = key
    for build in builds:
        for read in filter(None, map(build.names.get, build.tree.written())):
            stated = facts.setdefault(build.input_file.scope, {})
            if stating.get(read.path) != build.input_file.scope:
                stated[read.path] = [*stated.get(read.path, ()), *written.get(read.path, ())]
    return ScopeFacts(
        facts,
        {name: tuple(numbers) for name, numbers in policies.items()},
        {each.input_file.path: each.input_file for each in judged},
        judges,
        frozenset(each.input_file.scope for each in judged if each.failure),
    )


def key_of(input_file: InputFile) -> str:
    """The scope of a file, or a name of its own if it is in none."""
    return input_file.scope or f"{NO_SCOPE}{input_file.path}"


def is_folder(name: str) -> bool:
    return not name.startswith(NO_SCOPE)


def shown_scope(name: str) -> str:
    """A scope as reported, without the suffix that separates the scopes of several policies in one folder."""
    return name.removeprefix(NO_SCOPE).partition(NO_SCOPE)[0]


def split_as_written(facts: Iterable[F]) -> tuple[list[F], list[F]]:
    """Facts about files as written, and the others."""
    found: tuple[list[F], list[F]] = ([], [])
    for fact in facts:
        found[not (isinstance(fact, LocatedFact) and fact.as_written)].append(fact)
    return found


class ReadScope(NamedTuple):
    """The facts of all files of a scope, in an order that does not depend on which are linted."""

    facts: Facts
    complete: bool = True
    """Whether all its files are known, so that other objects do not exist."""
    keys: Mapping[str, bytes] = {}
    """Of the files that are not linted: keys of their results in the cache, by their paths."""


def with_surroundings(run: Run, name: str, of_run: ScopeFacts, failures: Failures) -> ReadScope:
    """A scope of the run, with its other files."""
    whole = not name.startswith(NO_SCOPE)
    known, reported = dict(of_run.facts.get(name, {})), of_run.input_files
    there: dict[str, InputFile] = {}
    others = 0
    for input_file in run.workspace.surroundings(name) if whole else ():
        others += input_file.path not in reported
        if others > MAX_BESIDE:
            there, whole = {}, False
            break
        there[input_file.path] = input_file
    beside = read_facts(run, [input_file for path, input_file in there.items() if path not in reported])
    everything: Facts = {}
    keys: dict[str, bytes] = {}
    for path in there:
        if path in reported:
            everything[path] = known.get(path, ())
            continue
        read = next(beside)
        everything[path] = read.facts
        keys[path] = read.key
        if read.failure:
            failures.append(read.failure)
            whole = False
    if known.keys() - there.keys():
        everything = known | everything  # built objects come before the files that they are built from
    return ReadScope(everything, whole, keys)
