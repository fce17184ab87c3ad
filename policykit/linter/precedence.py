"""One cause, one finding per pod set: which findings follow from others (contract 5)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from policykit.linter.rule import AnyRule, Violation
from policykit.model.severity import Severity


class Said(NamedTuple):
    """A violation with the rule that found it."""

    rule: AnyRule
    violation: Violation

    @property
    def severity(self) -> Severity:
        return self.violation.severity or self.rule.severity


def causes(said: Iterable[Said]) -> list[Said]:
    """What remains for one pod set: nothing that follows from another finding.

    A rule silenced by another one still silences what follows from it. A single violation may
    say which findings it follows from, where others of its rule do not.
    """
    everything = list(said)
    silenced: set[str] = set()
    for one in everything:
        silenced |= one.rule.silences
        if one.severity is Severity.ERROR:
            silenced |= one.rule.silences_as_error
    codes = {one.rule.code for one in everything}
    remaining = [
        one for one in everything if one.rule.code not in silenced and not codes & one.violation.follows
    ]
    return [one for one in remaining if not (one.rule.only_alone and _explained(one, remaining))]


def _explained(one: Said, others: list[Said]) -> bool:
    """Whether another error of the same family says why."""
    return any(
        other.rule.code != one.rule.code
        and other.rule.family == one.rule.family
        and other.severity is Severity.ERROR
        for other in others
    )
