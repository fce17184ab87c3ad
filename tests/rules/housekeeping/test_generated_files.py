"""PK901 and PK902 by themselves: any two texts can be compared, and the pages show what they say."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from policykit.generator.header import with_header
from policykit.linter.rule import Context, GeneratedFile, Violation
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
        "was edited by hand: line 9 is 'value: 20000', but should be 'value: 10000'"
    ]
    without = [text.replace("# sha256 of the rest: ", "# ") for text in (stale.BAD, stale.GOOD)]
    assert [v.message for v in said(*without)] == [
        "differs from what the policy generates: line 9 is 'value: 20000', but should be 'value: 10000'"
    ]
    changed = with_header("demo", "a.yaml", stale.BAD.partition("---\n")[2])
    [violation] = said(changed, stale.GOOD)
    assert (violation.message, violation.help) == (
        "the policy or the version of policykit has changed since it was generated: "
        "line 9 is 'value: 20000', but should be 'value: 10000'",
        "run `policykit gen -p policykit.yaml`",
    )
    assert [v.message for v in said(orphaned.BAD, None)] == [
        "policy policykit.yaml no longer generates this file"
    ]
    assert said(stale.GOOD, stale.GOOD) == said(orphaned.GOOD, orphaned.GOOD) == []


def test_the_place_is_the_first_line() -> None:
    [violation] = said("# first\r\nsecond\r\n", None)
    assert violation.at == Span(1, 1, 1, 8)
