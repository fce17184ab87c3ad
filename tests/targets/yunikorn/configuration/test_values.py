"""Placeholders in values, and regular expressions that Go accepts and Python refuses, or the reverse."""

import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policykit.targets.yunikorn.configuration.values import contains_placeholder, is_regular_expression

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text("ab*", max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("xy", max_size=2), inner, max_size=3),
    max_leaves=8,
)


@given(VALUES, st.sampled_from(["${QUEUE}", "<queue>", "{{ .queue }}", "$(QUEUE)"]))
def test_a_placeholder_is_found_wherever_it_is(data: object, placeholder: str) -> None:
    assert not contains_placeholder(data)
    assert contains_placeholder([data, {"queue": [placeholder]}])
    assert contains_placeholder({"queue": data, placeholder: data})


@pytest.mark.parametrize(
    "text",
    [
        "",
        "^kube-system$",
        "dev*",
        "[[:alpha:]]+",
        "[[:^digit:]]",
        r"\pL+\z",
        "a(?i)b",
        "(?P<a>x)",
        r"\\1",
        "a{2,3}",
    ],
)
def test_valid_regular_expression(text: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert is_regular_expression(text)


@pytest.mark.parametrize("text", ["(", "a)", "[", "*a", "a**", "(?=x)", "(?<!x)y", r"(a)\1", "(?(1)a)"])
def test_invalid_regular_expression(text: str) -> None:
    assert not is_regular_expression(text)


@given(st.text(alphabet="ab()[]{}*+?\\^$|.:,=!<1P", max_size=20))
def test_any_text_is_decided(text: str) -> None:
    assert is_regular_expression(text) in (True, False)
