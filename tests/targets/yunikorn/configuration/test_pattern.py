"""What Go's regular expressions take, and Python's do not, and the other way round."""

import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policykit.targets.yunikorn.configuration.pattern import compiles


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
def test_fine(text: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert compiles(text)


@pytest.mark.parametrize("text", ["(", "a)", "[", "*a", "a**", "(?=x)", "(?<!x)y", r"(a)\1", "(?(1)a)"])
def test_refused(text: str) -> None:
    assert not compiles(text)


@given(st.text(alphabet="ab()[]{}*+?\\^$|.:,=!<1P", max_size=20))
def test_any_text(text: str) -> None:
    assert compiles(text) in (True, False)
