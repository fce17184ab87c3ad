"""Schedules as robfig/cron's ParseStandard takes them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policykit.kube.cron import problem


@pytest.mark.parametrize(
    "schedule",
    [
        "* * * * *",
        "0 2 * * *",
        "*/15 0-6,22 1,15 JAN-mar mon-fri/2",
        "5/10 ? * * 0",
        "0  0 31 12 sat",
        "@hourly",
        "@every 1h30m",
    ],
)
def test_taken(schedule: str) -> None:
    assert problem(schedule) == ""


@pytest.mark.parametrize(
    ("schedule", "said"),
    [
        ("0 2 * *", "has 4 fields, 5 are needed"),
        ("0 0 2 * * *", "has 6 fields, 5 are needed"),
        ("60 2 * * *", "has '60' as minute, which is outside 0-59"),
        ("0 0 0 * *", "has '0' as day of the month, which is outside 1-31"),
        ("0 0 * * 7", "has '7' as day of the week, which is outside 0-6"),
        ("0 22-6 * * *", "has '22-6' as hour, which ends before it begins"),
        ("*/0 * * * *", "has '*/0' as minute, which has a step of 0"),
        (f"*/{'9' * 5000} * * * *", ""),
        ("0 0 * foo *", "has 'foo' as month, which is not a number, range or step"),
        ("*-5 * * * *", "has '*-5' as minute, which is not a range"),
        ("0 0 * * mon,", "has '' as day of the week, which is not a number, range or step"),
        ("@never", "begins with @ but is not a known word"),
        ("", "has 0 fields, 5 are needed"),
    ],
)
def test_refused(schedule: str, said: str) -> None:
    assert problem(schedule) == said


BOUNDS = ((0, 59), (0, 23), (1, 31), (1, 12), (0, 6))


@given(st.tuples(*(st.integers(low - 3, high + 3).filter(lambda n: n >= 0) for low, high in BOUNDS)))
def test_numbers_are_taken_within_their_bounds(numbers: tuple[int, ...]) -> None:
    within = all(low <= number <= high for number, (low, high) in zip(numbers, BOUNDS, strict=True))
    assert (problem(" ".join(map(str, numbers))) == "") == within


@given(st.text(alphabet="0123456789*/-,? @amJANever", max_size=30))
def test_any_text_has_an_answer(schedule: str) -> None:
    assert isinstance(problem(schedule), str)
