"""Goes on from a kept run, of which few files have changed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain

from policykit.linter.baseline import Key
from policykit.linter.baseline_pass import new_of, pairs_of
from policykit.linter.engine import FileResult
from policykit.linter.finding import Report
from policykit.linter.gang_operator_pass import gang_made_by_operator
from policykit.linter.kept_run import (
    OTHERS,
    KeptRun,
    KeptSubject,
    of_rule,
    subject_of_finding,
    with_source,
)
from policykit.linter.pod_mutation_pass import changed_at_admission
from policykit.linter.run import WITHOUT_GANG, merge, select
from policykit.linter.scope import AnyFact, StoredFacts, changed_facts, fact_name, may_have_findings
from policykit.linter.scope_facts import Facts, ReadScope, ScopeFacts, key_of
from policykit.linter.scope_pass import ScopesByPolicy, rule_findings, scope_fixes
from policykit.linter.unit import UnitFinding, UnitResult, file_findings, linted_again
from policykit.linter.workspace import EarlierFindings, Run
from policykit.model.gang_operators import StartedOperator
from policykit.model.pod_admission import PodMutation, RuntimeClass, RuntimeClassUse
from policykit.namedtuple import NamedTuple

_FOR_ALL = frozenset(map(fact_name, (PodMutation, RuntimeClass, RuntimeClassUse, StartedOperator)))
"""Types of facts that the findings of other files depend on."""


class ChangedFile(NamedTuple):
    """A file that differs from what the kept run read, and the result that it had."""

    number: int
    before: FileResult


class Knowledge(NamedTuple):
    """A kept run, of which parts are decoded only where they are needed."""

    kept: KeptRun
    facts: Callable[[], Sequence[Sequence[StoredFacts]]]
    """The facts of each file, as the kept run read it; none of one that states nothing."""
    number: Callable[[Key], int]
    """The number of a subject; -1: there were no findings about it."""
    subjects: Callable[[Iterable[int]], Sequence[KeptSubject]]
    """The findings about subjects with these numbers."""


class CannotGoOnError(Exception):
    """A change that concerns more than a kept run tells."""


def go_on(run: Run, known: Knowledge, changed: Sequence[ChangedFile], earlier: EarlierFindings) -> Report:
    """The report of a run of which only some files differ from a kept one. `earlier`: without findings.

    Raises CannotGoOnError if all files have to be judged.
    """
    kept = known.kept
    again = {each.number: _linted(run, kept, each) for each in changed}
    names = frozenset[str]().union(
        *(changed_facts(each.before.facts, again[each.number].result.facts) for each in changed)
    )
    if names & _FOR_ALL:
        raise CannotGoOnError
    scopes = _Scopes(run, known, again)
    found = [*_of_files(run, scopes, again)]
    left = set(again)
    if names:
        done, more = _of_rules(run, scopes, names, changed)
        found += more
        left |= {of_rule(number) for number in range(len(kept.rules)) if number not in done}
    new, amount = _paired(known, left, found, earlier)
    report = _report(kept, changed, again)
    return report._replace(findings=merge(run, new), unchanged=amount)


def _linted(run: Run, kept: KeptRun, each: ChangedFile) -> UnitResult:
    """The judgement of a changed file, if it differs from what it was in nothing but findings and facts."""
    input_file, before = kept.input_files[each.number], each.before
    settings = run.workspace.settings
    done = linted_again(run, UnitResult(input_file, (input_file.setting,), FileResult()), settings)
    after = done.result
    same = (
        (before.skipped, before.sources, before.obstacle, bool(before.documents))
        == (after.skipped, after.sources, after.obstacle, bool(after.documents))
    )  # fmt: skip
    if done.failure or not same or before.suppressions or after.suppressions or after.dropped:
        raise CannotGoOnError
    return done


class _Scopes:
    """The scopes of the run, made only if something asks for them."""

    def __init__(self, run: Run, known: Knowledge, again: Mapping[int, UnitResult]) -> None:
        self.kept = known.kept
        self._run = run
        self._facts = known.facts
        self._again = again
        self._made: ScopesByPolicy | None = None

    def __call__(self) -> ScopesByPolicy:
        if self._made is None:
            self._made = self._scopes()
        return self._made

    def stated(self, number: int) -> Sequence[AnyFact]:
        """The facts of a changed file."""
        return self._again[number].result.facts

    def _scopes(self) -> ScopesByPolicy:
        kept, stored = self.kept, self._facts()
        paths = [*(each.path for each in kept.input_files), *kept.beside]
        now: list[Sequence[AnyFact | StoredFacts]] = [
            self._again[number].result.facts if number in self._again else facts
            for number, facts in enumerate(stored)
        ]
        facts: dict[str, dict[str, Sequence[AnyFact | StoredFacts]]] = {}
        policies: dict[str, dict[int, None]] = {}
        for number, input_file in enumerate(kept.input_files):
            key = key_of(input_file)
            policies.setdefault(key, {})[input_file.setting] = None
            if now[number]:
                facts.setdefault(key, {})[input_file.path] = now[number]
        known = ScopeFacts(
            facts,
            {name: tuple(numbers) for name, numbers in policies.items()},
            {each.path: each for each in kept.input_files},
            {each.path: frozenset((each.setting,)) for each in kept.input_files},
            frozenset(),
        )
        read: dict[str, ReadScope] = {}
        for each in kept.scopes:
            files: Facts = {paths[number]: now[number] for number in each.files}
            read[each.name] = ReadScope(files, each.complete)
        return ScopesByPolicy(self._run, known, read)


def _of_files(
    run: Run, scopes: _Scopes, again: Mapping[int, UnitResult]
) -> Iterator[tuple[int, UnitFinding]]:
    """The findings of the changed files by themselves, with their origins."""
    for number, judged in again.items():
        found = tuple(file_findings([judged]))
        if any(one.finding.name == WITHOUT_GANG for one in found):
            found = gang_made_by_operator(scopes(), found, WITHOUT_GANG)
        if found:
            found = changed_at_admission(run, scopes(), found)
        yield from ((number, one) for one in select(run, found))


def _of_rules(
    run: Run, scopes: _Scopes, names: frozenset[str], changed: Sequence[ChangedFile]
) -> tuple[set[int], list[tuple[int, UnitFinding]]]:
    """The kept rules of which the findings are the same, and the findings of all others, with their origins.
    `names`: of the types of facts that have changed."""
    made, kept = scopes(), scopes.kept
    numbers = {(each.scope, each.setting, each.code): number for number, each in enumerate(kept.rules)}
    same = {number for number, each in enumerate(kept.rules) if each.asked.isdisjoint(names)}
    rendered = kept.rendered
    found: list[tuple[int, UnitFinding]] = []
    known = {each.name: each for each in kept.scopes}
    of_scopes = [key_of(kept.input_files[each.number]) for each in changed]
    if not known.keys() >= set(of_scopes):
        raise CannotGoOnError  # rules may run there now for the first time
    fixes = scope_fixes(run)
    for name in sorted(known):
        stating = known[name].stating + sum(
            may_have_findings(scopes.stated(each.number)) - may_have_findings(each.before.facts)
            for each, scope in zip(changed, of_scopes, strict=True)
            if scope == name
        )
        of_scope = {number for (scope, _, _), number in numbers.items() if scope == name}
        if stating <= 0 or name not in made.known.facts:
            same -= of_scope
            continue
        for setting in made.known.policies.get(name, ()):
            without = {kept.rules[n].code for n in of_scope & same if kept.rules[n].setting == setting}
            for each in rule_findings(run, made, name, setting, fixes, without):
                origin = of_rule(numbers.get((name, setting, each.code), len(kept.rules)))
                some = [with_source(one, rendered) for one in each.findings]
                found += ((origin, one) for one in select(run, some))
    if made.failures:
        raise CannotGoOnError
    return same, found


def _paired(
    known: Knowledge, left: set[int], found: Sequence[tuple[int, UnitFinding]], earlier: EarlierFindings
) -> tuple[list[UnitFinding], int]:
    """The findings that the revision did not have, and the number of those that it had. `left`: the origins
    whose findings are now those in `found`."""
    kept, locate = known.kept, earlier.locate
    whole = {n for n, each in enumerate(kept.input_files) if locate(each.path) in earlier.whole}
    concerned = set[int]().union(*(kept.subjects[n] for n in whole))
    concerned.update(*(kept.subjects[n] for n in left if 0 <= n < len(kept.input_files)))
    concerned.update(*(rule.subjects for n, rule in enumerate(kept.rules) if of_rule(n) in left))
    by_origin = [*found]
    for _, one in found:
        number = known.number(subject_of_finding(one, locate))
        if number >= 0:
            concerned.add(number)
    subjects = known.subjects(sorted(concerned))
    amounts = {(key, path): amount for each in subjects for key, path, amount in each.earlier}
    gone = frozenset(chain.from_iterable(each.gone for each in subjects))
    earlier = earlier._replace(amounts=amounts, gone=gone)
    before = [*chain.from_iterable(each.found for each in subjects)]
    by_origin += (each for each in before if each[0] not in left)
    then = new_of(pairs_of(_in_order(before), earlier), ())
    now = new_of(pairs_of(_in_order(by_origin), earlier), earlier.whole)
    others = [one for one in kept.new if known.number(subject_of_finding(one, locate)) not in concerned]
    return [*others, *now.findings], kept.known - then.known + now.known


def _in_order(found: Iterable[tuple[int, UnitFinding]]) -> list[UnitFinding]:
    """The findings in the order in which a run has them: of files, of rules, others."""

    def order(each: tuple[int, UnitFinding]) -> tuple[int, int]:
        origin = each[0]
        return (0, origin) if origin >= 0 else (2, 0) if origin == OTHERS else (1, -origin)

    return [one for _, one in sorted(found, key=order)]


def _report(kept: KeptRun, changed: Sequence[ChangedFile], again: Mapping[int, UnitResult]) -> Report:
    """The numbers of a run, without findings."""
    report = kept.report
    pairs = [(kept.input_files[each.number].path, each.before, again[each.number].result) for each in changed]
    paths = {path for path, _, _ in pairs}
    unrecognized = {each for each in report.unrecognized if each[0] not in paths}
    unrecognized.update((path, name) for path, _, after in pairs for name in after.unrecognized)
    return report._replace(
        documents=report.documents + sum(after.documents - before.documents for _, before, after in pairs),
        unrecognized=tuple(sorted(unrecognized)),
    )
