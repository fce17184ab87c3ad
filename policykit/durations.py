"""Durations as Go writes and parses them: 600s, 24h, 1h30m."""

from __future__ import annotations

import re

UNSIGNED = r"(?:(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:h|ms|m|s|us|µs|ns))+"
"""Regular expression of a duration without a sign, other than a plain 0."""
_TEXT = re.compile(rf"{UNSIGNED}\Z")
_PARTS = re.compile(r"([0-9.]+)(h|ms|m|s|us|µs|ns)")
_SECONDS = {"h": 3600.0, "m": 60.0, "s": 1.0}
_MAX_LENGTH = 64


def format_seconds(seconds: int) -> str:
    """In the largest unit that divides it; 0 is `0s`."""
    for unit, size in (("h", 3600), ("m", 60)):
        if seconds and seconds % size == 0:
            return f"{seconds // size}{unit}"
    return f"{seconds}s"


def seconds(text: str) -> int | None:
    """Whole seconds, rounded down; None if it is negative or no duration, such as a number without unit."""
    exact = exact_seconds(text)
    return None if exact is None else int(exact)


def exact_seconds(text: str) -> float | None:
    """To the millisecond; None if it is negative or not a duration. Source: Go `time.ParseDuration`."""
    unsigned = text.removeprefix("+")
    if unsigned == "0":
        return 0.0
    if len(text) > _MAX_LENGTH or not _TEXT.match(unsigned):
        return None
    total = 0.0
    for amount, unit in _PARTS.findall(unsigned):
        total += float(amount) * _SECONDS.get(unit, 0.001 if unit == "ms" else 0.0)
    return total


def is_duration(text: str) -> bool:
    """Whether Go parses it as a duration of 0 or more."""
    return seconds(text) is not None


def is_signed_duration(text: str) -> bool:
    """Whether Go parses it as a duration, which may be negative."""
    return re.match(rf"[-+]?(?:{UNSIGNED}|0)\Z", text) is not None
