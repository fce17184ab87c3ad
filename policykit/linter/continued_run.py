"""Goes on from a kept run, of which few files have changed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from itertools import chain

from policykit.linter.baseline import Key
from policykit.linter.baseline_pass import earlier_amounts, new_of, pairs_of
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


class Revision(NamedTuple):
    """The revision to compare with, where it is another one than the kept run was compared with."""

    read: Callable[[str], bytes]
    """The contents that a file has in it."""
    changed: Sequence[ChangedFile]
    """The files that have other contents in it than they have now."""


def go_on(
    run: Run,
    known: Knowledge,
    changed: Sequence[ChangedFile],
    earlier: EarlierFindings,
    revision: Revision | None = None,
) -> Report:
    """The report of a run of which only some files differ from a kept one. `earlier`: without findings;
    `revision`: None for the one that the kept run was compared with.

    Raises CannotGoOnError if all files have to be judged.
    """
    now = _judged(run, known, {each.number: each for each in changed})
    if revision is None:
        new, amount = _paired(known, now, earlier)
    else:
        then = _at(revision, run, known, now)
        new, amount = _paired_again(known, now, then, earlier)
    return _report(known.kept, now)._replace(findings=merge(run, new), unchanged=amount)


class _Judged(NamedTuple):
    """The changed files, judged."""

    changed: Mapping[int, ChangedFile]
    again: Mapping[int, UnitResult]
    found: Sequence[tuple[int, UnitFinding]] = ()
    """Findings that differ from those of the kept run, with their origins."""
    left: Set[int] = frozenset()
    """The origins of which these are all findings."""


def _judged(
    run: Run, known: Knowledge, changed: Mapping[int, ChangedFile], same: Mapping[int, UnitResult] = {}
) -> _Judged:
    """The findings of a run with changed files. `same`: judgements that are known."""
    kept = known.kept
    again = {number: same.get(number) or _linted(run, kept, each) for number, each in changed.items()}
    names = frozenset[str]().union(
        *(changed_facts(each.before.facts, again[number].result.facts) for number, each in changed.items())
    )
    if names & _FOR_ALL:
        raise CannotGoOnError
    judged = _Judged(changed, again)
    scopes = _Scopes(run, known, again)
    found = [*_of_files(run, scopes, again)]
    left = set(again)
    if names:
        done, more = _of_rules(run, scopes, names, judged)
        found += more
        left |= {of_rule(number) for number in range(len(kept.rules)) if number not in done}
    return judged._replace(found=found, left=left)


def _at(revision: Revision, run: Run, known: Knowledge, now: _Judged) -> _Judged:
    """What was found in a revision that differs in some files from what there is now."""
    others = {each.number: each for each in revision.changed}
    same = {number: each for number, each in now.again.items() if number not in others}
    run = run._replace(workspace=run.workspace._replace(read=revision.read))
    return _judged(run, known, {**now.changed, **others}, same)


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
    run: Run, scopes: _Scopes, names: frozenset[str], judged: _Judged
) -> tuple[set[int], list[tuple[int, UnitFinding]]]:
    """The kept rules of which the findings are the same, and the findings of all others, with their origins.
    `names`: of the types of facts that have changed."""
    made, kept, changed = scopes(), scopes.kept, judged.changed
    numbers = {(each.scope, each.setting, each.code): number for number, each in enumerate(kept.rules)}
    same = {number for number, each in enumerate(kept.rules) if each.asked.isdisjoint(names)}
    rendered = kept.rendered
    found: list[tuple[int, UnitFinding]] = []
    known = {each.name: each for each in kept.scopes}
    of_scopes = {number: key_of(kept.input_files[number]) for number in changed}
    if not known.keys() >= {*of_scopes.values()}:
        raise CannotGoOnError  # rules may run there now for the first time
    fixes = scope_fixes(run)
    for name in sorted(known):
        stating = known[name].stating + sum(
            may_have_findings(judged.again[number].result.facts) - may_have_findings(each.before.facts)
            for number, each in changed.items()
            if of_scopes[number] == name
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


def _paired(known: Knowledge, now: _Judged, earlier: EarlierFindings) -> tuple[list[UnitFinding], int]:
    """The findings that the revision did not have, and the number of those that it had."""
    concerned = _concerned(known, [now], earlier)
    subjects = known.subjects(sorted(concerned))
    amounts = {(key, path): amount for each in subjects for key, path, amount in each.earlier}
    gone = frozenset(chain.from_iterable(each.gone for each in subjects))
    earlier = earlier._replace(amounts=amounts, gone=gone)
    then = new_of(pairs_of(_in_order(_before(subjects)), earlier), ())
    new = new_of(pairs_of(_replaced(subjects, now), earlier), earlier.whole)
    locate = earlier.locate
    others = [one for one in known.kept.new if known.number(subject_of_finding(one, locate)) not in concerned]
    return [*others, *new.findings], known.kept.known - then.known + new.known


def _paired_again(
    known: Knowledge, now: _Judged, then: _Judged, earlier: EarlierFindings
) -> tuple[list[UnitFinding], int]:
    """The same for a revision in which `then` was found: it had the findings of subjects that neither
    concerns."""
    subjects = known.subjects(sorted(_concerned(known, [now, then], earlier)))

    def had(found: Sequence[UnitFinding]) -> EarlierFindings:
        return earlier._replace(amounts=earlier_amounts(found, earlier.clusters, earlier.locate))

    def number(found: Sequence[UnitFinding]) -> int:
        return new_of(pairs_of(found, had(found)), ()).known

    new = new_of(pairs_of(_replaced(subjects, now), had(_replaced(subjects, then))), earlier.whole)
    others = known.kept.known + number(known.kept.new) - number(_in_order(_before(subjects)))
    return [*new.findings], others + new.known


def _concerned(known: Knowledge, judged: Iterable[_Judged], earlier: EarlierFindings) -> set[int]:
    """Numbers of the subjects of which findings differ, or are all reported."""
    kept, locate = known.kept, earlier.locate
    left = {origin for each in judged for origin in each.left}
    whole = {n for n, each in enumerate(kept.input_files) if locate(each.path) in earlier.whole}
    concerned = set[int]().union(*(kept.subjects[n] for n in whole))
    concerned.update(*(kept.subjects[n] for n in left if 0 <= n < len(kept.input_files)))
    concerned.update(*(rule.subjects for n, rule in enumerate(kept.rules) if of_rule(n) in left))
    found = (one for each in judged for _, one in each.found)
    numbers = {known.number(subject_of_finding(one, locate)) for one in found}
    return concerned | {number for number in numbers if number >= 0}


def _before(subjects: Iterable[KeptSubject]) -> list[tuple[int, UnitFinding]]:
    """The findings that the kept run had of subjects, with their origins."""
    return [*chain.from_iterable(each.found for each in subjects)]


def _replaced(subjects: Iterable[KeptSubject], judged: _Judged) -> list[UnitFinding]:
    """The findings of subjects, with those of changed origins in place of what the kept run had."""
    return _in_order(chain(judged.found, (each for each in _before(subjects) if each[0] not in judged.left)))


def _in_order(found: Iterable[tuple[int, UnitFinding]]) -> list[UnitFinding]:
    """The findings in the order in which a run has them: of files, of rules, others."""

    def order(each: tuple[int, UnitFinding]) -> tuple[int, int]:
        origin = each[0]
        return (0, origin) if origin >= 0 else (2, 0) if origin == OTHERS else (1, -origin)

    return [one for _, one in sorted(found, key=order)]


def _report(kept: KeptRun, now: _Judged) -> Report:
    """The numbers of a run, without findings."""
    report = kept.report
    pairs = [
        (kept.input_files[number].path, each.before, now.again[number].result)
        for number, each in now.changed.items()
    ]
    paths = {path for path, _, _ in pairs}
    unrecognized = {each for each in report.unrecognized if each[0] not in paths}
    unrecognized.update((path, name) for path, _, after in pairs for name in after.unrecognized)
    return report._replace(
        documents=report.documents + sum(after.documents - before.documents for _, before, after in pairs),
        unrecognized=tuple(sorted(unrecognized)),
    )
