"""Rules about whole scopes: over facts of the linted files and of the other files in their scope."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from itertools import chain, islice
from typing import TYPE_CHECKING

from policykit.errors import Failures
from policykit.linter.finding import Finding
from policykit.linter.input_file import TEXT, InputFile
from policykit.linter.lint_files import read_facts
from policykit.linter.rule import AnyRule, Context, Violation
from policykit.linter.scope import (
    OBJECT_NAMES,
    AnyFact,
    FactField,
    Scope,
    StoredFacts,
    UnreadableText,
    alternatives,
    decoded,
    joined_words,
    may_have_findings,
    names_in,
    objects_of,
    scope_of,
)
from policykit.linter.scope_facts import (
    MAX_BESIDE,
    NO_SCOPE,
    Facts,
    ReadScope,
    ScopeFacts,
    is_folder,
    shown_scope,
    split_as_written,
    with_surroundings,
)
from policykit.linter.unit import UnitFinding
from policykit.linter.violations import finding_of, locate
from policykit.linter.workspace import Run, Setting
from policykit.namedtuple import NamedTuple

if TYPE_CHECKING:
    from policykit.linter.scope_fixes import ScopeFixes


class RuleFindings(NamedTuple):
    """What one rule finds in a scope under a policy."""

    scope: str
    setting: int
    code: str
    asked: frozenset[str]
    """The names of the types of facts that it asked for: what it finds depends on no others."""
    findings: tuple[UnitFinding, ...]


class ScopeFindings(NamedTuple):
    """The findings of the rules about scopes."""

    rules: tuple[RuleFindings, ...]
    failures: tuple[str, ...]
    dropped: tuple[str, ...]

    @property
    def findings(self) -> tuple[UnitFinding, ...]:
        return tuple(chain.from_iterable(each.findings for each in self.rules))


def scope_findings(run: Run, scopes: ScopesByPolicy) -> ScopeFindings:
    """The findings of rules about scopes. If several policies judge files of a scope, each judges its own."""
    known = scopes.known
    names = sorted(name for name, facts in known.facts.items() if any(map(may_have_findings, facts.values())))
    fixes = scope_fixes(run)
    found = [
        each
        for name in names
        for number in known.policies[name]
        for each in rule_findings(run, scopes, name, number, fixes)
    ]
    return ScopeFindings(tuple(found), tuple(scopes.failures), fixes.dropped if fixes else ())


def scope_fixes(run: Run) -> ScopeFixes | None:
    """Computes fixes; None: they are not requested."""
    if not run.options.fixes:
        return None
    from policykit.linter.scope_fixes import ScopeFixes

    return ScopeFixes(run)


def rule_findings(
    run: Run,
    scopes: ScopesByPolicy,
    name: str,
    number: int,
    fixes: ScopeFixes | None,
    without: Container[str] = (),
) -> Iterator[RuleFindings]:
    """What each rule finds in a scope under a policy; `without`: codes of those that are left out."""
    known, setting = scopes.known, run.workspace.settings[number]
    rules = setting.rules.about(names_in(chain.from_iterable(known.facts[name].values())), without)
    if not rules:
        return
    scope = scopes.scope(name)._replace(is_part=is_part(name, setting))
    builds = {build.input_file.path: number for number, build in enumerate(run.workspace.builds)}
    for rule in rules:
        found: list[UnitFinding] = []
        scopes.asked.clear()
        with scopes.failures.collect(f"{shown_scope(name)}: {rule.code} {rule.name}"):
            violations = [*_violations(rule, scope, number, setting, known)]
            for input_file, violation in scopes.confirmed(name, number, rule, violations):
                reported = _finding(fixes, input_file, rule, violation)
                found.append(UnitFinding(reported, number, builds.get(reported.path, -1)))
        yield RuleFindings(name, number, rule.code, frozenset(scopes.asked), tuple(found))


_Location = tuple[object, ...]


def is_part(name: str, setting: Setting) -> bool:
    """Whether a scope is one of those of a cluster, which are deployed together."""
    return setting.cluster is not None and not name.startswith(NO_SCOPE)


class _ScopeGroup(NamedTuple):
    """Scopes of one cluster that may be deployed together, since no two define the same object."""

    names: frozenset[str]
    scope: Scope


class _Confirmed(NamedTuple):
    """Violations of a rule in a group of scopes, by location, and the types of facts that it asked for."""

    violations: Mapping[_Location, Sequence[tuple[InputFile, Violation]]]
    asked: frozenset[str]


class ScopesByPolicy:
    """Scopes, and all files that each policy applies to, read once and only if there is something to report.

    All files of a policy are for one cluster, so objects of one scope exist for the others too. Scopes that
    define the same object are alternatives, which never exist together.
    """

    def __init__(self, run: Run, known: ScopeFacts, read: Mapping[str, ReadScope] = {}) -> None:
        """`read`: scopes of which all files have been read."""
        self.known = known
        self.asked: set[str] = set()
        """The names of the types of facts that were asked for since this was cleared."""
        self.failures = Failures()
        """Why files could not be read, and rules did not end."""
        self._run = run
        self.read = dict(read)
        """The scopes of which all files have been read so far."""
        self._scopes: dict[str, Scope] = {}
        self._scope_groups: dict[int, list[_ScopeGroup]] = {}
        self._confirmed: dict[tuple[int, int, str], _Confirmed] = {}

    def scope(self, name: str) -> Scope:
        """A scope, with the facts of its files that are not linted."""
        if name not in self._scopes:
            self._read(name)
            facts = chain.from_iterable(self.read[name].facts.values())
            beside = cache(partial(self._beside, (name,)))
            self._scopes[name] = scope_of(
                facts,
                complete=self.read[name].complete,
                beside=beside,
                judged=self.known.input_files,
                asked=self.asked,
            )
        return self._scopes[name]

    def _beside(self, names: Sequence[str]) -> UnreadableText:
        """The words of files beside the manifests of scopes."""
        return joined_words(
            self._run.workspace.unread(shown_scope(name)) for name in names if is_folder(name)
        )

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
            found: dict[_Location, list[tuple[InputFile, Violation]]] = {}
            for each in _violations(rule, groups[position].scope, number, setting, self.known):
                found.setdefault(_location(each[1]), []).append(each)
            self._confirmed[key] = _Confirmed(found, frozenset(self.asked))
        there, asked = self._confirmed[key]
        self.asked |= asked | {OBJECT_NAMES}
        locations = dict.fromkeys(_location(violation) for _, violation in violations)
        return [each for here in locations for each in there.get(here, ())]

    def _read(self, name: str) -> None:
        if name in self.read:
            return
        found = ReadScope({}, complete=False)
        with self.failures.collect(shown_scope(name)):
            found = with_surroundings(self._run, name, self.known, self.failures)
        unknown = self._run.workspace.incomplete.intersection(self.known.policies.get(name, ()))
        complete = found.complete and name not in self.known.incomplete and not unknown
        self.read[name] = found._replace(complete=complete)

    def _scope_groups_of(self, number: int) -> list[_ScopeGroup]:
        if number not in self._scope_groups:
            beside, complete = self._facts_outside_run(number)
            names = sorted(
                name
                for name, numbers in self.known.policies.items()
                if number in numbers and not name.startswith(NO_SCOPE)
            )
            for name in names:
                self._read(name)
            facts = {**beside, **{name: self._as_built(self.read[name].facts) for name in names}}
            complete = complete and all(self.read[name].complete for name in names)
            objects = {name: _objects(facts[name], self._namespaces) for name in facts if len(facts) > 1}
            self._scope_groups[number] = [
                _ScopeGroup(frozenset(group), self._joined(group, facts, complete))
                for group in (alternatives(objects) if objects else [[*facts]])
            ]
        return self._scope_groups[number]

    def _joined(self, group: Sequence[str], facts: Mapping[str, Facts], complete: bool) -> Scope:
        """The scopes of a group as one."""
        only = group[0]
        read = self.read.get(only)
        if len(group) == 1 and read and facts[only] is read.facts and complete == read.complete:
            return self.scope(only)
        beside = cache(partial(self._beside, tuple(group)))
        return scope_of(
            _all_of(facts, group),
            complete=complete,
            beside=beside,
            judged=self.known.input_files,
            asked=self.asked,
        )

    def _facts_outside_run(self, number: int) -> tuple[dict[str, Facts], bool]:
        """Facts of files outside the run to which the policy applies, by scope; False: not all are known."""
        found: dict[str, Facts] = {}
        complete = number not in self._run.workspace.incomplete
        reach = [*islice(self._run.workspace.reach(number), MAX_BESIDE + 1)]
        if len(reach) > MAX_BESIDE:
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
            path: split_as_written(decoded(stated))[0] if self._is_read(path) else stated
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


def _finding(fixes: ScopeFixes | None, input_file: InputFile, rule: AnyRule, violation: Violation) -> Finding:
    location = locate(violation, input_file.path)
    wanted = fixes if violation.fix and not input_file.only else None
    fix = wanted.at(input_file, rule, violation, location) if wanted else None
    return finding_of(rule, violation, location, fix)
