"""Patterns of HyperNodes: RE2, as far as it can be told without it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policykit.rules.volcano.invalid_hypernode import pattern_problem


@pytest.mark.parametrize(
    "pattern",
    [
        "",
        "node-[0-9]+",
        r"^node-\d{1,3}\z",
        r"\pL+",
        "[[:alpha:]]+",
        "(?i)node",
        "(?P<rack>r[0-9])",
        r"a\\1",
        "${P}(",
    ],
)
def test_taken(pattern: str) -> None:
    assert pattern_problem(pattern) == ""


@pytest.mark.parametrize(
    ("pattern", "said"),
    [
        ("node-(1|2", "is not a regular expression: missing ), unterminated subpattern at position 5"),
        ("[a-", "is not a regular expression: unterminated character set at position 0"),
        ("^(?!master)", "has '(?!', which Go's regular expressions do not support"),
        (r"(a)\1", "has '\\\\1', which Go's regular expressions do not support"),
    ],
)
def test_refused(pattern: str, said: str) -> None:
    assert pattern_problem(pattern) == said


@given(st.text(max_size=40))
def test_any_text_has_an_answer(pattern: str) -> None:
    assert isinstance(pattern_problem(pattern), str)
