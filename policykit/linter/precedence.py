"""One finding per cause and pod set: leaves out findings that follow from others."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from policykit.linter.rule import AnyRule, Violation
from policykit.model.severity import Severity


class RuleViolation(NamedTuple):
    """A violation with the rule that found it."""

    rule: AnyRule
    violation: Violation

    @property
    def severity(self) -> Severity:
        return self.violation.severity or self.rule.severity


def causes(violations: Iterable[RuleViolation]) -> list[RuleViolation]:
    """The violations of one pod set without those that follow from another one.

    A rule silenced by another one still silences what follows from it. A single violation may
    say which findings it follows from, where others of its rule do not.
    """
    everything = list(violations)
    silenced: set[str] = set()
    for each in everything:
        silenced |= each.rule.silences
        if each.severity is Severity.ERROR:
            silenced |= each.rule.silences_as_error
    codes = {each.rule.code for each in everything}
    remaining = [
        each for each in everything if each.rule.code not in silenced and not codes & each.violation.follows
    ]
    return [each for each in remaining if not (each.rule.only_alone and _explained(each, remaining))]


def _explained(each: RuleViolation, others: list[RuleViolation]) -> bool:
    """Whether another error of the same family says why."""
    return any(
        other.rule.code != each.rule.code
        and other.rule.family == each.rule.family
        and other.severity is Severity.ERROR
        for other in others
    )
