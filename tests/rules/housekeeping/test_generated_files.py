"""PK901 and PK902 by themselves: any two texts can be compared, and the pages show what they say."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from policykit.linter.rule import Context, Violation
from policykit.linter.subjects import GeneratedFile
from policykit.manifests.node import Span
from policykit.rules.housekeeping import generated_file_orphaned as orphaned
from policykit.rules.housekeeping import generated_file_stale as stale

TEXTS = st.lists(st.sampled_from(["a: 1", "b: 2", "", "  c: 3"]), max_size=4).map("\n".join)


def said(there: str, wanted: str | None) -> list[Violation]:
    file = GeneratedFile("generated/a.yaml", "policykit.yaml", there, wanted)
    return [*stale.check(file, Context()), *orphaned.check(file, Context())]


@given(TEXTS, st.none() | TEXTS)
def test_one_thing_is_said_of_a_file_that_differs(there: str, wanted: str | None) -> None:
    found = said(there, wanted)
    assert len(found) == (there != wanted)
    for violation in found:
        assert isinstance(violation.at, Span)
        assert violation.at[:2] == (1, 1)


def test_the_pages() -> None:
    assert [v.message for v in said(stale.BAD, stale.GOOD)] == [
        "differs from what the policy generates: line 8 is 'value: 20000', but should be 'value: 10000'"
    ]
    assert [v.message for v in said(orphaned.BAD, None)] == [
        "policy policykit.yaml no longer generates this file"
    ]
    assert said(stale.GOOD, stale.GOOD) == said(orphaned.GOOD, orphaned.GOOD) == []


def test_the_place_is_the_first_line() -> None:
    [violation] = said("# first\r\nsecond\r\n", None)
    assert violation.at == Span(1, 1, 1, 8)
