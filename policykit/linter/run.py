"""Many files through the engine: worker processes, then the rules about whole scopes."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING

from policykit.errors import Failures
from policykit.linter.engine import fixes_of
from policykit.linter.finding import Finding, Report, TextFix
from policykit.linter.member import BUILT, READ, Member
from policykit.linter.outcomes import outcome_of, outcomes
from policykit.linter.plan import Run, Setting
from policykit.linter.reader import decode
from policykit.linter.registry import SCOPE
from policykit.linter.rule import AnyRule, Context
from policykit.linter.scope import Fact, Located, Scope, ScopeViolation, asks, scope_of

if TYPE_CHECKING:
    from policykit.linter.suppression import Suppressed

_Stated = dict[str, Sequence[Fact]]
"""What files state, by their paths."""
_MOST_BESIDE = 5_000
"""Files that are read for what they say of those linted. A folder with more is no scope anybody meant:
then nothing is said of what is absent."""


def run(work: Run, workers: int = 0) -> Report:
    """Lints every member. Findings are sorted; neither the number of workers nor the cache changes
    anything in them.
    """
    report = _run(work, workers)
    # Results from a cache have the right types, and may still contradict each other and the files: whoever
    # wrote them makes no run fail that succeeds without them.
    if report.failures and work.cache is not None and work.cache.clear():
        return _run(work, workers)
    return report


def _run(work: Run, workers: int) -> Report:
    findings: list[Finding] = []
    times: dict[str, float] = {}
    sources: dict[tuple[str, int], str] = {}
    facts: dict[str, _Stated] = {}
    written: dict[str, list[Fact]] = {}
    suppressions: dict[str, tuple[Suppressed, ...]] = {}
    skipped: list[tuple[str, str]] = []
    failures = Failures()
    unjudged: set[str] = set()
    dropped: list[str] = []
    documents = hidden = 0
    about_built: list[Finding] = []
    opened = frozenset(member.path for member in work.members)
    built_scopes = frozenset(built.member.scope for built in work.built)
    everything = work.with_built()
    for member, (result, failure) in zip(everything.members, outcomes(everything, workers), strict=True):
        if failure:
            failures.append(failure)
            unjudged.add(member.scope)
        if member.look == BUILT:
            about_built.extend(result.findings)
            facts.setdefault(member.scope, {})[member.path] = _split(result.facts)[1]
            _add(times, result.times)
            continue
        findings.extend(work.settings[member.setting].selection.apply(result.findings))
        documents += result.documents
        hidden += result.suppressed
        dropped.extend(result.dropped)
        _add(times, result.times)
        if result.skipped:
            skipped.append((member.path, result.skipped))
        if member.look == READ:
            written[member.path] = _split(result.facts)[0]
        if result.facts and not (member.look == READ and member.scope in built_scopes):
            facts.setdefault(member.scope or _alone(member), {})[member.path] = result.facts
        if result.suppressions:
            suppressions[member.path] = result.suppressions
        sources |= {(member.path, number): source for number, source in result.sources.items()}
    for built in work.built:
        for read in filter(None, map(built.names.get, built.tree.written())):
            stated = facts.setdefault(built.member.scope, {})
            stated[read.path] = [*stated.get(read.path, ()), *written.get(read.path, ())]
    for finding, setting in _about_scopes(everything, facts, unjudged, failures, dropped):
        if finding.path not in opened:
            about_built.append(finding)
            continue
        kept, suppressions[finding.path] = _sift(finding, suppressions.get(finding.path, ()))
        hidden += not kept
        kept = [found._replace(source=sources.get((found.path, found.document), "")) for found in kept]
        findings.extend(setting.selection.apply(kept))
    if about_built:
        from policykit.linter.built.placed import heard

        with failures.told(work.built[0].member.path):
            told, unheard = heard(work.built, about_built, work.read, suppressions)
            hidden += unheard
            for built, finding in told:
                findings.extend(work.settings[built.member.setting].selection.apply([finding]))
    for finding, setting in _about_policies(work, failures):
        if finding.path not in suppressions:
            suppressions[finding.path] = _suppressions_of(work, finding.path, failures)
        kept, suppressions[finding.path] = _sift(finding, suppressions[finding.path])
        hidden += not kept
        findings.extend(setting.selection.apply(kept))
    findings.extend(_about_suppressions(work, suppressions, failures, dropped))
    for setting in work.settings:
        _add(times, setting.rules.times())
    return Report(
        tuple(_once(findings)),
        len(work.members),
        documents,
        tuple(skipped),
        tuple(failures),
        hidden,
        max((setting.rules.silent for setting in work.settings), default=0),
        tuple(dropped),
        times=tuple(sorted(times.items())),
    )


def _split(facts: Iterable[Fact]) -> tuple[list[Fact], list[Fact]]:
    """Those about files as they are written, and the others."""
    found: tuple[list[Fact], list[Fact]] = ([], [])
    for fact in facts:
        found[not (isinstance(fact, Located) and fact.as_written)].append(fact)
    return found


def _sift(
    finding: Finding, suppressions: tuple[Suppressed, ...]
) -> tuple[list[Finding], tuple[Suppressed, ...]]:
    if not suppressions:
        return [finding], ()
    from policykit.linter.suppression import sift

    return sift([finding], suppressions)


def _once(findings: Iterable[Finding]) -> list[Finding]:
    """Sorted; what several pods of one anchor have at the same place is said once, with its fix."""
    said: dict[tuple[object, ...], Finding] = {}
    for finding in sorted(findings, key=Finding.sort_key):
        mark = (finding.path, finding.span, finding.code, finding.message, finding.document)
        if mark not in said or (finding.fix and not said[mark].fix):
            said[mark] = finding
    return list(said.values())


def _add(times: dict[str, float], more: Iterable[tuple[str, float]]) -> None:
    for code, seconds in more:
        times[code] = times.get(code, 0.0) + seconds


_ALONE = "\0"
"""No folder has a name that begins so."""


def _alone(member: Member) -> str:
    """Key of a file that stands in no scope."""
    return f"{_ALONE}{member.path}"


def _about_scopes(
    work: Run,
    facts: Mapping[str, _Stated],
    unjudged: Collection[str],
    failures: Failures,
    dropped: list[str],
) -> Iterator[tuple[Finding, Setting]]:
    """Rules about whole scopes, over what the run has read and what stands beside it.

    Where several settings govern the files of a scope, each speaks of its own files. `unjudged`: scopes
    with files that came to nothing, of which nobody knows all there is.
    """
    governing: dict[str, dict[int, None]] = {}
    for member in work.members:
        governing.setdefault(member.scope or _alone(member), {})[member.setting] = None
    reported = {member.path: member for member in work.members}
    for name in sorted(name for name in facts if any(map(asks, facts[name].values()))):
        scope = Scope()
        with failures.told(name.removeprefix(_ALONE)):
            scope = _scope(work, name, facts[name], reported, failures)
            scope = scope._replace(complete=scope.complete and name not in unjudged)
        for number in governing[name]:
            setting = work.settings[number]
            for rule in setting.rules.of(SCOPE):
                found: list[Finding] = []
                with failures.told(f"{name.removeprefix(_ALONE)}: {rule.code} {rule.name}"):
                    found = [
                        _finding(work, member, rule, violation, dropped)
                        for member, violation in _violations(rule, scope, setting, reported)
                        if member.setting == number
                    ]
                yield from ((finding, setting) for finding in found)


def _scope(work: Run, name: str, known: _Stated, reported: Mapping[str, Member], failures: Failures) -> Scope:
    """A scope with what stands beside the run; its files come in one order, whichever of them are linted."""
    whole = not name.startswith(_ALONE)
    around = work.surroundings(name) if whole else ()
    there: dict[str, Member] = {}
    others = 0
    for member in around:
        others += member.path not in reported
        if others > _MOST_BESIDE:
            there, whole = {}, False
            break
        there[member.path] = member
    everything: _Stated = {}
    for path, member in there.items():
        if path in reported:
            everything[path] = known.get(path, ())
            continue
        beside = outcome_of(work, member)
        everything[path] = beside.result.facts
        if beside.failure:
            failures.append(beside.failure)
            whole = False
    if known.keys() - there.keys():
        everything = known | everything  # what is built comes before the files that it is built from
    return scope_of(chain.from_iterable(everything.values()), complete=whole)


def _violations(
    rule: AnyRule, scope: Scope, setting: Setting, reported: Mapping[str, Member]
) -> Iterator[tuple[Member, ScopeViolation]]:
    """What a rule says of a scope under a setting, as far as it stands in files of the run."""
    context = Context(setting.cluster, "", setting.namespace)
    for violation in setting.rules.check(rule, scope, context):
        member = reported.get(violation.located.path)
        if member is not None and (member.look != READ or violation.located.as_written):
            yield member, violation


def _finding(
    work: Run, member: Member, rule: AnyRule, violation: ScopeViolation, dropped: list[str]
) -> Finding:
    where = violation.located
    place = where.place(violation.field)
    return Finding(
        where.path,
        place.span,
        rule.code,
        rule.name,
        violation.severity or rule.severity,
        violation.message,
        violation.help,
        where.document,
        where.resource,
        place.pointer,
        _fix(work, member, rule, violation, dropped)
        if work.fixes and violation.fix and not member.look
        else None,
        place.field,
    )


def _fix(
    work: Run, member: Member, rule: AnyRule, violation: ScopeViolation, dropped: list[str]
) -> TextFix | None:
    """The fix of a finding about a scope: its file is read once more."""
    from policykit.linter.fixes import Place

    raw = work.read(member.file)
    fixes = fixes_of(member.path, decode(raw).text, raw)
    where = violation.located
    made = fixes.at(rule.code, where.place(violation.field).span, Place(where.document), violation.fix)
    dropped.extend(fixes.dropped)
    return made


def _about_policies(work: Run, failures: Failures) -> Iterator[tuple[Finding, Setting]]:
    """Rules about the policies that the run looks at, and about what they generate."""
    for policy in work.policies:
        from policykit.linter.policies import judged

        setting = work.settings[policy.setting]
        found: list[Finding] = []
        with failures.told(policy.file or "policy"):
            found = [*judged(policy, setting.rules, Context(setting.cluster, "", setting.namespace))]
        yield from ((finding, setting) for finding in found)


def _suppressions_of(work: Run, path: str, failures: Failures) -> tuple[Suppressed, ...]:
    """Those of a file that a policy extends: it need not be a member."""
    if any(member.path == path for member in work.members):
        return ()
    found = outcome_of(work, Member(path, path, "", 0))
    if found.failure:
        failures.append(found.failure)
    return found.result.suppressions


def _about_suppressions(
    work: Run, suppressions: dict[str, tuple[Suppressed, ...]], failures: Failures, dropped: list[str]
) -> Iterator[Finding]:
    """What rules say of suppressions; those hide nothing of it."""
    for member in work.members:
        asked = suppressions.get(member.path, ())
        if asked:
            found: list[Finding] = []
            with failures.told(member.path):
                found = _about_suppressed(work, member, asked, dropped)
            yield from work.settings[member.setting].selection.apply(found)


def _about_suppressed(
    work: Run, member: Member, asked: tuple[Suppressed, ...], dropped: list[str]
) -> list[Finding]:
    from policykit.linter.housekeeping import judged

    setting = work.settings[member.setting]
    context = Context(setting.cluster, member.path, setting.namespace, setting.served)
    fixes = None
    if work.fixes:
        raw = work.read(member.file)
        fixes = fixes_of(member.path, decode(raw).text, raw)
    whole = any(policy.looked_at(member.path) for policy in work.policies)
    found = judged(asked, setting.rules, context, scoped=bool(member.scope), policy=whole, fixes=fixes)
    made = [*found]
    dropped.extend(fixes.dropped if fixes else ())
    return made
