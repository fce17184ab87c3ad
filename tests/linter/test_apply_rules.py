"""One cause, one finding per pod set."""

from __future__ import annotations

from typing import Any

import pytest

from policykit.linter.apply_rules import RuleViolation, causes
from policykit.linter.rule import AnyRule, Rule, Violation
from policykit.model.severity import Severity
from policykit.placement.review import Review


def rule(code: str, **more: Any) -> AnyRule:
    base: AnyRule = Rule(code, code.lower(), Severity.ERROR, Review, "", "", "", lambda _, __: ())
    return base._replace(**more)


CAUSE = rule("PK106", silences=frozenset({"PK101", "PK110"}))
SOFT = rule("PK108", silences=frozenset({"PK110"}), silences_as_error=frozenset({"PK101"}))
TAINT = rule("PK101", silences=frozenset({"PK203"}))
SIZE = rule("PK203")
ALONE = rule("PK102", only_alone=True)
MINOR = rule("PK105", severity=Severity.WARNING)
DEAD = rule("PK115", severity=Severity.WARNING)
FOLLOWING = RuleViolation(DEAD, Violation((), "message", follows=frozenset({"PK101"})))


def said(one: AnyRule, severity: Severity | None = None) -> RuleViolation:
    return RuleViolation(one, Violation((), "message", severity=severity))


@pytest.mark.parametrize(
    ("everything", "remain"),
    [
        ([], []),
        ([said(TAINT)], ["PK101"]),
        ([said(TAINT), said(CAUSE)], ["PK106"]),
        ([said(TAINT), said(CAUSE), said(SIZE)], ["PK106"]),
        ([said(SIZE), said(TAINT), said(TAINT)], ["PK101", "PK101"]),
        ([said(SOFT), said(TAINT)], ["PK108"]),
        ([said(SOFT, Severity.WARNING), said(TAINT)], ["PK108", "PK101"]),
        ([said(ALONE)], ["PK102"]),
        ([said(ALONE), said(ALONE)], ["PK102", "PK102"]),
        ([said(ALONE), said(TAINT)], ["PK101"]),
        ([said(ALONE), said(MINOR)], ["PK102", "PK105"]),
        ([said(ALONE), said(SIZE)], ["PK102", "PK203"]),
        ([FOLLOWING, said(DEAD)], ["PK115", "PK115"]),
        ([FOLLOWING, said(DEAD), said(TAINT)], ["PK115", "PK101"]),
    ],
    ids=[
        "nothing",
        "one",
        "silenced",
        "the silenced still silences",
        "twice the same",
        "as an error",
        "as a warning",
        "alone",
        "alone twice",
        "explained",
        "not explained by a warning",
        "not explained by another family",
        "what it follows from is not there",
        "one violation follows, the other does not",
    ],
)
def test_causes(everything: list[RuleViolation], remain: list[str]) -> None:
    assert [one.rule.code for one in causes(everything)] == remain
