"""Templates without functions whose results change."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policykit.workspace.chart_texts import _CONSTANTS, steady


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a: {{ randAlphaNum 8 | quote }}", 'a: {{ printf "%08d" 8 | quote }}'),
        ("a: {{ 8 | randAlpha }}", 'a: {{ 8 | printf "%08d" }}'),
        ('a: {{ now | date "2006" }}', 'a: {{ (toDate "2006-01-02" "2020-01-01") | date "2006" }}'),
        ("a: {{ .Values.now }}", "a: {{ .Values.now }}"),
        ("a: {{ $now }}", "a: {{ $now }}"),
        ('a: {{ "now" }}{{ `now` }}', 'a: {{ "now" }}{{ `now` }}'),
        ("now: {{ .a }}", "now: {{ .a }}"),
        ("a: {{ now", "a: {{ now"),
        ("a: now", "a: now"),
    ],
)
def test_only_functions_are_replaced(text: str, expected: str) -> None:
    assert steady(text) == expected


@given(st.lists(st.sampled_from(["{{", "}}", '"', "`", "\n", " ", "a", ".", *_CONSTANTS]), max_size=30))
def test_lines_stay_lines(parts: list[str]) -> None:
    text = "".join(parts)
    assert steady(text).count("\n") == text.count("\n")
