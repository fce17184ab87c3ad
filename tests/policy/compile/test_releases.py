"""Versions and pins."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policykit.policy.compile.releases import clauses, release, satisfies


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("1.15.1", (1, 15, 1)),
        ("v1.8", (1, 8, 0)),
        ("1.36.0-rc.1", (1, 36, 0)),
        ("1.8.0+chart", (1, 8, 0)),
        ("1", None),
        ("latest", None),
        ("", None),
    ],
)
def test_release(text: str, wanted: tuple[int, ...] | None) -> None:
    assert release(text) == wanted


@pytest.mark.parametrize(
    ("version", "pin", "wanted"),
    [
        ("0.3.1", ">=0.3,<0.4", True),
        ("0.4.0", ">=0.3,<0.4", False),
        ("0.3.0", "==0.3", True),
        ("0.3.0", "!=0.3", False),
        ("0.3.7", "~=0.3.1", True),
        ("0.4.0", "~=0.3.1", False),
        ("0.9.0", "~=0.3", True),
        ("1.0.0", "~=0.3", False),
        ("0.10.0", ">0.9", True),
        ("0.3.0", "<=0.3.0", True),
        ("0.3.0", "0.3", False),
        ("0.3.0", ">=0.3;<0.4", False),
    ],
)
def test_satisfies(version: str, pin: str, wanted: bool) -> None:
    assert satisfies(version, pin) is wanted


@given(st.tuples(st.integers(0, 30), st.integers(0, 30), st.integers(0, 30)))
def test_a_version_meets_the_bounds_it_is(parts: tuple[int, int, int]) -> None:
    text = ".".join(map(str, parts))
    assert satisfies(text, f">={text},<={text},=={text},~={text}")
    assert not satisfies(text, f">{text}")
    assert clauses(f">={text}") == [(">=", parts)]
