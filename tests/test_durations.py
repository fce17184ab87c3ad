"""Durations, as Go parses them and as policykit writes them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policykit import durations


@given(st.integers(0, 10**9))
def test_durations_read_back(seconds: int) -> None:
    assert durations.seconds(durations.format_seconds(seconds)) == seconds


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("24h0m0s", 86400),
        ("1h30m", 5400),
        ("1.5h", 5400),
        ("1500ms", 1),
        ("0", 0),
        ("+0", 0),
        ("+1h", 3600),
        ("1h+30m", None),
        ("++1h", None),
        ("600", None),
        ("-5s", None),
        ("", None),
        ("5 s", None),
    ],
)
def test_durations_of_go(text: str, seconds: int | None) -> None:
    assert durations.seconds(text) == seconds


@pytest.mark.parametrize(("seconds", "text"), [(0, "0s"), (90, "90s"), (600, "10m"), (86400, "24h")])
def test_durations_written(seconds: int, text: str) -> None:
    assert durations.format_seconds(seconds) == text
