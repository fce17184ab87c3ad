"""Durations as Go writes and reads them: 600s, 24h, 1h30m."""

from __future__ import annotations

import re

LONGEST_WAIT = 900
"""Seconds after which the scheduling framework ends every wait of a gang."""

_PART = r"[0-9]+(?:\.[0-9]*)?(?:h|ms|m|s|us|µs|ns)|\.[0-9]+(?:h|ms|m|s|us|µs|ns)"
_TEXT = re.compile(rf"\+?(?:{_PART})+\Z")
_PIECES = re.compile(r"([0-9.]+)(h|ms|m|s|us|µs|ns)")
_SECONDS = {"h": 3600.0, "m": 60.0, "s": 1.0}
_LONGEST = 64


def written(seconds: int) -> str:
    """In the largest unit that divides it; 0 is `0s`."""
    for unit, size in (("h", 3600), ("m", 60)):
        if seconds and seconds % size == 0:
            return f"{seconds // size}{unit}"
    return f"{seconds}s"


def seconds(text: str) -> int | None:
    """Whole seconds, rounded down; None: not a duration, for one because it has no unit.

    Source: Go `time.ParseDuration`. Negative ones, which Koordinator ignores, count as invalid.
    """
    if text == "0":
        return 0
    if len(text) > _LONGEST or not _TEXT.match(text):
        return None
    total = 0.0
    for amount, unit in _PIECES.findall(text):
        total += float(amount) * _SECONDS.get(unit, 0.001 if unit == "ms" else 0.0)
    return int(total)
