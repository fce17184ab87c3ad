"""Times as people write them in a policy."""

from __future__ import annotations

_UNITS = (("h", 3600), ("m", 60), ("s", 1))


def duration(seconds: int) -> str:
    """86400 seconds are 24h, 5400 are 1h30m."""
    parts = []
    for unit, size in _UNITS:
        number, seconds = divmod(seconds, size)
        parts += [f"{number}{unit}"] if number else []
    return "".join(parts)
