"""Quantities: what they are worth, how they print, and that both agree."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policykit.model.quantity import Quantity, amount, amount_text, cpu_text, parse

POWERS = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
BINARY = ("Ki", "Mi", "Gi", "Ti", "Pi")
LARGEST = Decimal(2**63 - 1)
SUFFIXES = st.sampled_from([*POWERS, *BINARY, "e3", "E-2", "e+0"])
TEXTS = st.builds(
    lambda sign, digits, suffix: f"{sign}{digits}{suffix}",
    st.sampled_from(["", "+", "-"]),
    st.from_regex(r"[0-9]{1,8}(\.[0-9]{0,4})?|\.[0-9]{1,4}", fullmatch=True),
    SUFFIXES,
)


def exact(text: str) -> Decimal:
    """A slow, independent reading; binary amounts end at the largest 64-bit number, either sign."""
    for suffix in BINARY:
        if text.endswith(suffix):
            exactly = Decimal(text.removesuffix(suffix)) * Decimal(1024 ** (BINARY.index(suffix) + 1))
            return max(-LARGEST, min(exactly, LARGEST))
    if text[-1] in POWERS:
        return Decimal(text[:-1]).scaleb(POWERS[text[-1]])
    return Decimal(text)


def read(text: str) -> Quantity:
    quantity = parse(text)
    assert quantity is not None
    return quantity


@pytest.mark.parametrize(
    ("value", "nanos"),
    [
        (1, 10**9),
        (-2, -2 * 10**9),
        (0.5, 5 * 10**8),
        (1000.0, 10**12),
        (1e21, 10**30),
        (1e-7, 100),
        (" 1Gi\n", 1024**3 * 10**9),
        ("0.0000000001", 1),
        ("-0.0000000001", -1),
        ("1e-999999999", 1),
        ("0e999999999", 0),
        (10**499, 10**508),
    ],
)
def test_values(value: object, nanos: int) -> None:
    quantity = parse(value)
    assert quantity is not None
    assert quantity.nanos == nanos


@pytest.mark.parametrize(
    "value",
    [
        True,
        False,
        None,
        [],
        {},
        float("inf"),
        float("nan"),
        "Gi",
        ".",
        "-",
        "+",
        "m",
        "e3",
        "1Ee3",
        "٣",
        "1" * 501,
        10**500,
        "{{ .Values.gpus }}",
        "1 m",
        "1.e",
        "- 1",
    ],
    ids=lambda value: repr(value)[:20],
)
def test_outside_the_grammar(value: object) -> None:
    assert parse(value) is None


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("0", "0"),
        ("0Gi", "0"),
        ("1.5", "1500m"),
        ("1.5Gi", "1536Mi"),
        ("1024Mi", "1Gi"),
        ("1000Mi", "1000Mi"),
        ("0.5Ki", "512"),
        ("0.9765625Ki", "1k"),
        ("0.1Ki", "102400m"),
        ("1000", "1k"),
        ("1500", "1500"),
        ("1e3", "1e3"),
        ("10e2", "1e3"),
        ("1e-3", "1e-3"),
        ("5e0", "5"),
        ("100000000000E", "100000000000E"),
        ("-2Gi", "-2Gi"),
        ("9223372036854775807Ki", "9223372036854775807"),
        ("-9223372036854775807Ki", "-9223372036854775807"),
        ("-100Ei", "-9223372036854775807"),
        ("1u", "1u"),
        ("+3", "3"),
    ],
)
def test_canonical_text(text: str, canonical: str) -> None:
    assert read(text).format() == canonical


@pytest.mark.parametrize(
    ("resource", "counted", "text"),
    [
        ("cpu", 16000, "16"),
        ("cpu", 500, "500m"),
        ("cpu", 0, "0"),
        ("memory", 64 * 1024**3, "64Gi"),
        ("memory", 1536 * 1024**2, "1536Mi"),
        ("memory", 0, "0"),
        ("memory", 1000, "1k"),
        ("memory", 100 * 1000**3, "100G"),
        ("memory", 1001, "1001"),
        ("ephemeral-storage", 10 * 1024**3, "10Gi"),
        ("hugepages-2Mi", 4 * 1024**2, "4Mi"),
        ("nvidia.com/gpu", 1024, "1024"),
    ],
)
def test_amount_text(resource: str, counted: int, text: str) -> None:
    assert amount_text(resource, counted) == text
    assert amount(resource, text) == counted


@pytest.mark.parametrize(("milli", "text"), [(1, "1m"), (1000, "1"), (1500, "1500m"), (10**6, "1000")])
def test_cpu_text(milli: int, text: str) -> None:
    assert cpu_text(milli) == text


def test_amounts_are_counted_as_the_scheduler_does() -> None:
    assert amount("cpu", "0.5") == 500
    assert amount("memory", "0.1Ki") == 103
    assert amount("nvidia.com/gpu", "500m") == 1
    assert amount("nvidia.com/gpu", "many") is None


@given(TEXTS)
def test_agrees_with_a_slow_reading(text: str) -> None:
    nanos = exact(text).scaleb(9)
    assert read(text).nanos == nanos.to_integral_value(rounding="ROUND_UP")


@given(TEXTS)
def test_canonical_text_reads_back(text: str) -> None:
    quantity = read(text)
    again = read(quantity.format())
    assert again.nanos == quantity.nanos
    assert again.format() == quantity.format()


@given(TEXTS, TEXTS)
def test_order_survives_rounding(left: str, right: str) -> None:
    a, b = sorted((read(left), read(right)))
    assert a.units <= b.units
    assert a.milli <= b.milli


@given(TEXTS)
def test_rounding_goes_away_from_zero(text: str) -> None:
    quantity = read(text)
    assert abs(quantity.units) * 10**9 >= abs(quantity.milli) * 10**6 >= abs(quantity.nanos)
    assert quantity.whole == (quantity.milli == 1000 * quantity.units)


@given(st.sampled_from(["cpu", "memory", "nvidia.com/gpu"]), st.integers(0, 2**62))
def test_amounts_read_back(resource: str, counted: int) -> None:
    assert amount(resource, amount_text(resource, counted)) == counted


@given(st.one_of(st.text(), st.from_regex(r"[0-9.eEKMGTPimun+-]{0,12}", fullmatch=True)))
def test_any_text_is_read_or_refused(text: str) -> None:
    quantity = parse(text)
    assert quantity is None or any(character.isdigit() for character in text)
