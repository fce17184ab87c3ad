"""Rules about whole scopes: over facts of the linted files and of the other files in their scope."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from itertools import chain, islice
from typing import TYPE_CHECKING, TypeVar

from policykit.errors import Failures
from policykit.linter.engine import fixes_of
from policykit.linter.finding import Finding, TextFix
from policykit.linter.input_file import OBJECTS, TEXT, InputFile
from policykit.linter.lint_files import read_facts
from policykit.linter.reader import decode
from policykit.linter.rule import AnyRule, Context, Violation
from policykit.linter.scope import (
    AnyFact,
    FactField,
    LocatedFact,
    Scope,
    StoredFacts,
    UnreadableText,
    alternatives,
    joined_words,
    may_have_findings,
    names_in,
    objects_of,
    scope_of,
)
from policykit.linter.unit import PassResult, UnitFinding, UnitResult
from policykit.linter.violations import Location, finding_of, locate
from policykit.linter.workspace import Run, Setting
from policykit.namedtuple import NamedTuple

if TYPE_CHECKING:
    from policykit.linter.text_fixes import Fixes

Facts = dict[str, Sequence[AnyFact | StoredFacts]]
"""Facts of files, by their reported paths."""

F = TypeVar("F")

_MAX_BESIDE = 5_000
"""Most files of a scope that are read although they are not linted. A larger folder is not meant as a scope,
so nothing is reported about absent objects."""
_NO_SCOPE = "\0"
"""Prefix of the key of a file in no scope: no folder's name begins with it."""


class ScopeFacts(NamedTuple):
    """The facts of a run's files, by scope."""

    facts: Mapping[str, Mapping[str, Sequence[AnyFact]]]
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
    facts: dict[str, dict[str, Sequence[AnyFact]]] = {}
    policies: dict[str, dict[int, None]] = {}
    judges: dict[str, frozenset[int]] = {}
    written: dict[str, Sequence[AnyFact]] = {}
    stating: dict[str, str] = {}
    for input_file, settings, result, _, first in judged:
        key = key_of(input_file)
        policies.setdefault(key, {}).update(dict.fromkeys(settings))
        judges[input_file.path] = judges.get(input_file.path, frozenset()) | frozenset(settings)
        if not first:
            continue
        if input_file.only == OBJECTS:
            facts.setdefault(input_file.scope, {})[input_file.path] = _split_as_written(result.facts)[1]
            continue
        if builds and (found := _split_as_written(result.facts)[0]):
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


def scope_findings(run: Run, scopes: ScopesByPolicy) -> PassResult:
    """The findings of rules about scopes. If several policies judge files of a scope, each judges its own."""
    known, failures = scopes.known, scopes.failures
    fixes = _ScopeFixes(run)
    found: list[UnitFinding] = []
    builds = {build.input_file.path: number for number, build in enumerate(run.workspace.builds)}
    for name in sorted(
        name for name, facts in known.facts.items() if any(map(may_have_findings, facts.values()))
    ):
        shown = _shown(name)
        stated = names_in(chain.from_iterable(known.facts[name].values()))
        for number in known.policies[name]:
            setting = run.workspace.settings[number]
            rules = setting.rules.about(stated)
            if not rules:
                continue
            scope = scopes.scope(name)._replace(is_part=is_part(name, setting))
            for rule in rules:
                with failures.collect(f"{shown}: {rule.code} {rule.name}"):
                    violations = [*_violations(rule, scope, number, setting, known)]
                    for input_file, violation in scopes.confirmed(name, number, rule, violations):
                        reported = _finding(fixes, input_file, rule, violation)
                        found.append(UnitFinding(reported, number, builds.get(reported.path, -1)))
    return PassResult(tuple(found), tuple(failures), fixes.dropped)


_Location = tuple[object, ...]


def is_part(name: str, setting: Setting) -> bool:
    """Whether a scope is one of those of a cluster, which are deployed together."""
    return setting.cluster is not None and not name.startswith(_NO_SCOPE)


class _ScopeGroup(NamedTuple):
    """Scopes of one cluster that may be deployed together, since no two define the same object."""

    names: frozenset[str]
    scope: Scope


class ScopesByPolicy:
    """Scopes, and all files that each policy applies to, read once and only if there is something to report.

    All files of a policy are for one cluster, so objects of one scope exist for the others too. Scopes that
    define the same object are alternatives, which never exist together.
    """

    def __init__(self, run: Run, known: ScopeFacts) -> None:
        self.known = known
        self.failures = Failures()
        """Why files could not be read, and rules did not end."""
        self._run = run
        self._facts: dict[str, Facts] = {}
        self._complete: dict[str, bool] = {}
        self._scopes: dict[str, Scope] = {}
        self._scope_groups: dict[int, list[_ScopeGroup]] = {}
        self._confirmed: dict[tuple[int, int, str], dict[_Location, list[tuple[InputFile, Violation]]]] = {}

    def scope(self, name: str) -> Scope:
        """A scope, with the facts of its files that are not linted."""
        if name not in self._scopes:
            self._read(name)
            facts = chain.from_iterable(self._facts[name].values())
            beside = cache(partial(self._beside, (name,)))
            self._scopes[name] = scope_of(
                facts, complete=self._complete[name], beside=beside, judged=self.known.input_files
            )
        return self._scopes[name]

    def _beside(self, names: Sequence[str]) -> UnreadableText:
        """The words of files beside the manifests of scopes."""
        return joined_words(self._run.workspace.unread(_shown(name)) for name in names if _is_folder(name))

    def confirmed(
        self, name: str, number: int, rule: AnyRule, violations: Sequence[tuple[InputFile, Violation]]
    ) -> Iterable[tuple[InputFile, Violation]]:
        """Violations in a scope as they are in the whole cluster, where they may be none."""
        setting = self._run.workspace.settings[number]
        if not violations or not is_part(name, setting):
            return violations
        groups = self._scope_groups_of(number)
        position = next(n for n, group in enumerate(groups) if name in group.names)
        key = (number, position, rule.code)
        if key not in self._confirmed:
            self._confirmed[key] = {}
            for each in _violations(rule, groups[position].scope, number, setting, self.known):
                self._confirmed[key].setdefault(_location(each[1]), []).append(each)
        locations = dict.fromkeys(_location(violation) for _, violation in violations)
        return [each for here in locations for each in self._confirmed[key].get(here, ())]

    def _read(self, name: str) -> None:
        if name in self._facts:
            return
        facts: Facts = {}
        complete = False
        with self.failures.collect(_shown(name)):
            facts, complete = _with_surroundings(self._run, name, self.known, self.failures)
        self._facts[name] = facts
        unknown = self._run.workspace.incomplete.intersection(self.known.policies.get(name, ()))
        self._complete[name] = complete and name not in self.known.incomplete and not unknown

    def _scope_groups_of(self, number: int) -> list[_ScopeGroup]:
        if number not in self._scope_groups:
            beside, complete = self._facts_outside_run(number)
            names = sorted(
                name
                for name, numbers in self.known.policies.items()
                if number in numbers and not name.startswith(_NO_SCOPE)
            )
            for name in names:
                self._read(name)
            facts = {**beside, **{name: self._as_built(self._facts[name]) for name in names}}
            complete = complete and all(self._complete[name] for name in names)
            objects = {name: _objects(facts[name], self._namespaces) for name in facts if len(facts) > 1}
            self._scope_groups[number] = [
                _ScopeGroup(frozenset(group), self._joined(group, facts, complete))
                for group in (alternatives(objects) if objects else [[*facts]])
            ]
        return self._scope_groups[number]

    def _joined(self, group: Sequence[str], facts: Mapping[str, Facts], complete: bool) -> Scope:
        """The scopes of a group as one."""
        only = group[0]
        if len(group) == 1 and facts[only] is self._facts.get(only) and complete == self._complete[only]:
            return self.scope(only)
        beside = cache(partial(self._beside, tuple(group)))
        return scope_of(
            _all_of(facts, group), complete=complete, beside=beside, judged=self.known.input_files
        )

    def _facts_outside_run(self, number: int) -> tuple[dict[str, Facts], bool]:
        """Facts of files outside the run to which the policy applies, by scope; False: not all are known."""
        found: dict[str, Facts] = {}
        complete = number not in self._run.workspace.incomplete
        reach = [*islice(self._run.workspace.reach(number), _MAX_BESIDE + 1)]
        if len(reach) > _MAX_BESIDE:
            return {}, False
        input_files = [input_file for input_file in reach if input_file.scope not in self.known.policies]
        for input_file, outcome in zip(input_files, read_facts(self._run, input_files), strict=True):
            found.setdefault(input_file.scope, {})[input_file.path] = outcome.facts
            complete = complete and not (input_file.is_built and outcome.failure)
        return found, complete

    def _as_built(self, facts: Facts) -> Facts:
        """The facts without those of files that builds use, whose objects exist as built."""
        if not any(map(self._is_read, facts)):
            return facts
        return {
            path: _split_as_written(stated)[0] if self._is_read(path) else stated
            for path, stated in facts.items()
        }

    def _is_read(self, path: str) -> bool:
        input_file = self.known.input_files.get(path)
        return input_file is not None and input_file.only == TEXT

    def _namespaces(self, path: str) -> str:
        input_file = self.known.input_files.get(path)
        return input_file.namespace if input_file else ""


def _objects(facts: Facts, namespace_of: Callable[[str], str]) -> frozenset[tuple[str, ...]]:
    """The objects that have facts: kind without its version, namespace, name."""
    found = set()
    for path, stated in facts.items():
        for about in objects_of(stated):
            group, slash, _ = about.api_version.partition("/")
            namespace = about.namespace or namespace_of(path)
            found.add((group if slash else "", about.kind, namespace, about.name))
    return frozenset(found)


def _all_of(facts: Mapping[str, Facts], names: Iterable[str]) -> Iterator[AnyFact | StoredFacts]:
    for name in names:
        yield from chain.from_iterable(facts[name].values())


def _location(violation: Violation) -> _Location:
    location = locate(violation, "")
    return location.path, location.document, location.place.span


def key_of(input_file: InputFile) -> str:
    """The scope of a file, or a name of its own if it is in none."""
    return input_file.scope or f"{_NO_SCOPE}{input_file.path}"


def _is_folder(name: str) -> bool:
    return not name.startswith(_NO_SCOPE)


def _shown(name: str) -> str:
    """A scope as reported, without the suffix that separates the scopes of several policies in one folder."""
    return name.removeprefix(_NO_SCOPE).partition(_NO_SCOPE)[0]


def _split_as_written(facts: Iterable[F]) -> tuple[list[F], list[F]]:
    """Facts about files as written, and the others."""
    found: tuple[list[F], list[F]] = ([], [])
    for fact in facts:
        found[not (isinstance(fact, LocatedFact) and fact.as_written)].append(fact)
    return found


def _with_surroundings(run: Run, name: str, of_run: ScopeFacts, failures: Failures) -> tuple[Facts, bool]:
    """The facts of all files of a scope, linted or not, in an order that does not depend on which are linted.

    True: all files are known, so other objects do not exist.
    """
    whole = not name.startswith(_NO_SCOPE)
    known, reported = dict(of_run.facts.get(name, {})), of_run.input_files
    there: dict[str, InputFile] = {}
    others = 0
    for input_file in run.workspace.surroundings(name) if whole else ():
        others += input_file.path not in reported
        if others > _MAX_BESIDE:
            there, whole = {}, False
            break
        there[input_file.path] = input_file
    beside = read_facts(run, [input_file for path, input_file in there.items() if path not in reported])
    everything: Facts = {}
    for path in there:
        if path in reported:
            everything[path] = known.get(path, ())
            continue
        read = next(beside)
        everything[path] = read.facts
        if read.failure:
            failures.append(read.failure)
            whole = False
    if known.keys() - there.keys():
        everything = known | everything  # built objects come before the files that they are built from
    return everything, whole


def _violations(
    rule: AnyRule, scope: Scope, number: int, setting: Setting, known: ScopeFacts
) -> Iterator[tuple[InputFile, Violation]]:
    """Violations of a rule in a scope under a policy, in files that the policy judges."""
    context = Context(setting.cluster, "", setting.namespace)
    for violation in rule.check(scope, context):
        if not isinstance(violation.at, FactField):
            raise TypeError(f"{rule.code} must yield its violations at fields of facts")
        fact = violation.at.fact
        if type(fact.value) not in rule.reports_at:
            raise TypeError(f"{rule.code} does not list {type(fact.value).__name__} in reports_at")
        input_file = known.input_files.get(fact.path)
        if (
            input_file is not None
            and number in known.judges[fact.path]
            and (input_file.only != TEXT or fact.as_written)
        ):
            yield input_file, violation


def _finding(fixes: _ScopeFixes, input_file: InputFile, rule: AnyRule, violation: Violation) -> Finding:
    location = locate(violation, input_file.path)
    fix = fixes.at(input_file, rule, violation, location) if violation.fix and not input_file.only else None
    return finding_of(rule, violation, location, fix)


class _ScopeFixes:
    """Computes fixes of findings about scopes, for which each file is read once more."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._files: dict[str, Fixes] = {}

    def at(
        self, input_file: InputFile, rule: AnyRule, violation: Violation, location: Location
    ) -> TextFix | None:
        """The fix of a violation; None: there is none, or fixes are not requested."""
        if not self._run.options.fixes:
            return None
        from policykit.linter.text_fixes import FixTarget

        fixes = self._files.get(input_file.path)
        if fixes is None:
            raw = self._run.workspace.read(input_file.file)
            fixes = self._files[input_file.path] = fixes_of(input_file.path, decode(raw).text, raw)
        return fixes.at(rule.code, location.place.span, FixTarget(location.document), violation.fix)

    @property
    def dropped(self) -> tuple[str, ...]:
        """Fixes that could not be made, as messages."""
        return tuple(chain.from_iterable(fixes.dropped for fixes in self._files.values()))
