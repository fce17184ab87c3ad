"""Rules about suppressions, once it is known what each of them has hidden."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from policykit.linter.finding import Finding
from policykit.linter.location import Place
from policykit.linter.registry import DECLARED, DRIFTED, SCOPE, SUPPRESSION, RuleSet
from policykit.linter.rule import AnyRule, Context, Violation
from policykit.linter.suppression import ANNOTATION, Annotation, SuppressionUse
from policykit.linter.violation import finding, locate
from policykit.manifests.path import Path, pointer

if TYPE_CHECKING:
    from policykit.linter.fixes import Fixes

_FIELD: Path = ("metadata", "annotations", ANNOTATION)


def checked_codes(rules: RuleSet, *, scoped: bool, policy: bool) -> frozenset[str]:
    """Codes of the rules that were run over a file with all they need.

    `scoped`: it stands in a complete scope; `policy`: it is a policy that the run looks at.
    """
    codes = rules.codes() - rules.codes(DRIFTED)
    codes -= frozenset() if scoped else rules.codes(SCOPE)
    return codes - (frozenset() if policy else rules.codes(DECLARED))


def check_suppressions(
    uses: Sequence[SuppressionUse],
    rules: RuleSet,
    context: Context,
    codes: frozenset[str],
    fixes: Fixes | None,
) -> Iterator[Finding]:
    """What the rules say of the suppressions of one file; `codes`: of the rules that were run over it."""
    for use in uses:
        subject = use._replace(checked=codes)
        for rule in rules.of(SUPPRESSION):
            for violation in rule.check(subject, context):
                yield _finding(context.path, use, rule, violation, fixes)


def _finding(
    path: str, use: SuppressionUse, rule: AnyRule, violation: Violation, fixes: Fixes | None
) -> Finding:
    suppression = use.suppression
    place = suppression.place
    base: Path = ()
    location = locate(violation, path, document=suppression.document)
    if isinstance(place, Annotation):
        base = place.base
        field = Place(suppression.span, (*base, *_FIELD), pointer(_FIELD))
        location = location._replace(place=field, resource=place.resource)
    fix = None
    if fixes:
        from policykit.linter.fixes import FixTarget

        fix = fixes.at(rule.code, suppression.span, FixTarget(suppression.document, base), violation.fix)
    return finding(rule, violation, location, fix)
