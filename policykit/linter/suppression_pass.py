"""The pass over suppressions: removes the findings they hide, and applies the rules about them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from policykit.errors import Failures
from policykit.linter.engine import fixes_of
from policykit.linter.finding import Finding
from policykit.linter.input_file import InputFile
from policykit.linter.lint_files import lint_input_file
from policykit.linter.location import FieldLocation
from policykit.linter.reader import decode
from policykit.linter.registry import GENERATED_FILE, POLICY, SCOPE, SUPPRESSION, RuleSet
from policykit.linter.rule import AnyRule, Context, Violation
from policykit.linter.suppressions import ANNOTATION, Annotation, SuppressionUse
from policykit.linter.unit import PassResult, UnitFinding, UnitResult
from policykit.linter.violations import finding_of, locate
from policykit.linter.workspace import Run
from policykit.manifests.path import Path, pointer
from policykit.namedtuple import NamedTuple

if TYPE_CHECKING:
    from policykit.linter.suppressions import SuppressionUse
    from policykit.linter.text_fixes import Fixes


Suppressions = Mapping[str, "tuple[SuppressionUse, ...]"]
"""Suppressions by the reported path of their file."""
_FIELD: Path = ("metadata", "annotations", ANNOTATION)


class VisibleFindings(NamedTuple):
    """The findings that are not suppressed."""

    findings: tuple[UnitFinding, ...]
    suppressions: Suppressions
    """With the rules they matched."""
    hidden: int
    """Number of suppressed findings; a finding that several units share counts once."""
    failures: tuple[str, ...] = ()


def apply(
    run: Run, judged: Sequence[UnitResult], found: Iterable[UnitFinding]
) -> tuple[PassResult, PassResult, int]:
    """The findings that are not suppressed, those about suppressions, and the number of the suppressed."""
    left = suppress(run, found, suppressions_of(judged))
    unused = suppression_findings(run, judged, left.suppressions)
    return PassResult(left.findings, left.failures), unused, left.hidden


def suppressions_of(judged: Iterable[UnitResult]) -> Suppressions:
    """The suppressions of the files. One that any unit uses counts as used."""
    found: dict[str, tuple[SuppressionUse, ...]] = {}
    for input_file, _, result, *_ in judged:
        if result.suppressions and not input_file.is_built:
            known = found.get(input_file.path)
            found[input_file.path] = _joined(known, result.suppressions) if known else result.suppressions
    return found


def suppress(run: Run, found: Iterable[UnitFinding], suppressions: Suppressions) -> VisibleFindings:
    """Removes findings that comments and annotations hide; files outside the run are read for them."""
    everything = [*found]
    failures = Failures()
    input_files = {input_file.path for input_file in run.workspace.input_files}
    known = dict(suppressions)
    places: dict[str, list[_Place]] = {}
    for number, one in enumerate(everything):
        for path, span in dict.fromkeys(
            [(one.finding.path, one.finding.span), *([one.source_location] if one.source_location else ())]
        ):
            if path in input_files and not known.get(path):
                continue
            at = _Place(
                number, one.finding._replace(path=path, span=span), bool(one.source_location), one.ignored
            )
            places.setdefault(path, []).append(at)
    hidden = {number for number, one in enumerate(everything) if one.ignored}
    for path, own in places.items():
        if path not in known and path not in input_files:
            known[path] = _suppressions_beside(run, path, failures)
        if known.get(path):
            there, known[path] = _hidden(own, known[path])
            hidden |= there
    kept = tuple(one for number, one in enumerate(everything) if number not in hidden)
    hidden_findings = {
        (of.path, of.span, of.code, of.message) for of in (everything[number].finding for number in hidden)
    }
    return VisibleFindings(kept, known, len(hidden_findings), tuple(failures))


class _Place(NamedTuple):
    """A location where suppressions may hide a finding."""

    number: int
    """Of the finding."""
    finding: Finding
    built: bool
    ignored: bool


def _hidden(
    places: Sequence[_Place], known: Sequence[SuppressionUse]
) -> tuple[set[int], tuple[SuppressionUse, ...]]:
    """The numbers of the findings that suppressions of one file hide, and the suppressions with matches.

    For a built object, its annotations after the build count, which may come from the file.
    """
    from policykit.linter.suppressions import Comment, apply_suppressions

    comments = tuple(one for one in known if isinstance(one.suppression.place, Comment))
    annotations = tuple(one for one in known if not isinstance(one.suppression.place, Comment))
    kept, comments = apply_suppressions([place.finding for place in places], comments)
    own = [place.finding for place in places if not place.built or place.ignored]
    uncovered, annotations = apply_suppressions(own, annotations)
    left = {id(finding) for finding in kept}
    covered = {id(finding) for finding in own} - {id(finding) for finding in uncovered}
    numbers = {
        place.number for place in places if id(place.finding) not in left or id(place.finding) in covered
    }
    return numbers, (*comments, *annotations)


def suppression_findings(run: Run, judged: Sequence[UnitResult], suppressions: Suppressions) -> PassResult:
    """Findings about suppressions, by the rules of each policy of the file; they cannot be suppressed.

    A suppression is unused only if no unit uses it.
    """
    failures = Failures()
    dropped: list[str] = []
    found: list[UnitFinding] = []
    settings: dict[str, dict[int, None]] = {}
    for each in judged:
        settings.setdefault(each.input_file.path, {}).update(dict.fromkeys(each.settings))
    for input_file in run.workspace.input_files:
        if suppressions.get(input_file.path):
            with failures.collect(input_file.path):
                uses = suppressions[input_file.path]
                found += _about(run, input_file, tuple(settings[input_file.path]), uses, dropped)
    return PassResult(tuple(found), tuple(failures), tuple(dropped))


def _about(
    run: Run,
    input_file: InputFile,
    numbers: Sequence[int],
    uses: Sequence[SuppressionUse],
    dropped: list[str],
) -> list[UnitFinding]:

    settings = run.workspace.settings
    fixes = None
    if run.options.fixes:
        raw = run.workspace.read(input_file.file)
        fixes = fixes_of(input_file.path, decode(raw).text, raw)
    whole = any(policy.looked_at(input_file.path) for policy in run.workspace.policies)
    codes = frozenset[str]().union(
        *(
            checked_codes(settings[number].rules, scoped=bool(input_file.scope), policy=whole)
            for number in numbers
        )
    )
    found = []
    for number in numbers:
        setting = settings[number]
        context = Context(setting.cluster, input_file.path, setting.namespace, setting.served)
        about_suppressions = check_suppressions(uses, setting.rules, context, codes, fixes)
        found += [UnitFinding(finding, number) for finding in about_suppressions]
    dropped.extend(fixes.dropped if fixes else ())
    return found


def _joined(known: Sequence[SuppressionUse], more: Sequence[SuppressionUse]) -> tuple[SuppressionUse, ...]:
    return tuple(
        one._replace(matched=one.matched | other.matched) for one, other in zip(known, more, strict=True)
    )


def _suppressions_beside(run: Run, path: str, failures: Failures) -> tuple[SuppressionUse, ...]:
    """The suppressions of a file that a policy extends, which may not be in the run."""
    found = lint_input_file(run, InputFile(path, path, "", 0))
    if found.failure:
        failures.append(found.failure)
    return found.result.suppressions


def checked_codes(rules: RuleSet, *, scoped: bool, policy: bool) -> frozenset[str]:
    """Codes of the rules that were fully applied to a file.

    `scoped`: it is in a complete scope; `policy`: it is a policy that the run judges.
    """
    codes = rules.codes() - rules.codes(GENERATED_FILE)
    codes -= frozenset() if scoped else rules.codes(SCOPE)
    return codes - (frozenset() if policy else rules.codes(POLICY))


def check_suppressions(
    uses: Sequence[SuppressionUse],
    rules: RuleSet,
    context: Context,
    codes: frozenset[str],
    fixes: Fixes | None,
) -> Iterator[Finding]:
    """Findings about the suppressions of one file; `codes`: of the rules applied to it."""
    for use in uses:
        subject = use._replace(checked=codes)
        for rule in rules.of(SUPPRESSION):
            for violation in rule.check(subject, context):
                yield _suppression_finding(context.path, use, rule, violation, fixes)


def _suppression_finding(
    path: str, use: SuppressionUse, rule: AnyRule, violation: Violation, fixes: Fixes | None
) -> Finding:
    suppression = use.suppression
    place = suppression.place
    base: Path = ()
    location = locate(violation, path, document=suppression.document)
    if isinstance(place, Annotation):
        base = place.base
        field = FieldLocation(suppression.span, (*base, *_FIELD), pointer(_FIELD))
        location = location._replace(place=field, resource=place.resource)
    fix = None
    if fixes:
        from policykit.linter.text_fixes import FixTarget

        fix = fixes.at(rule.code, suppression.span, FixTarget(suppression.document, base), violation.fix)
    return finding_of(rule, violation, location, fix)
