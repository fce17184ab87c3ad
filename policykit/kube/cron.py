"""Schedules of CronJobs: five fields, or a word that begins with @."""

from __future__ import annotations

import re

from policykit.durations import UNSIGNED
from policykit.namedtuple import NamedTuple

_WORDS = frozenset({"@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"})
_EVERY = re.compile(rf"@every {UNSIGNED}\Z")
_PART = re.compile(r"(\*|\?|[0-9A-Za-z]+)(?:-([0-9A-Za-z]+))?(?:/([0-9]+))?\Z")


class _Field(NamedTuple):
    what: str
    least: int
    most: int
    names: tuple[str, ...] = ()
    """In order; the first is the value of `least`."""


_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_FIELDS = (
    _Field("minute", 0, 59),
    _Field("hour", 0, 23),
    _Field("day of the month", 1, 31),
    _Field("month", 1, 12, _MONTHS),
    _Field("day of the week", 0, 6, _DAYS),
)


def problem(schedule: str) -> str:
    """The problem of a schedule, as a predicate; empty: it is valid.

    Source: `ParseStandard` of github.com/robfig/cron/v3, which Kubernetes and Volcano use.
    """
    if schedule.startswith("@"):
        return "" if schedule in _WORDS or _EVERY.match(schedule) else "begins with @ but is not a known word"
    fields = schedule.split()
    if len(fields) != len(_FIELDS):
        return f"has {len(fields)} fields, 5 are needed"
    for written, field in zip(fields, _FIELDS, strict=True):
        for part in written.split(","):
            if wrong := _wrong(part, field):
                return f"has {part!r} as {field.what}, which {wrong}"
    return ""


def _wrong(part: str, field: _Field) -> str:
    matched = _PART.match(part)
    if matched is None:
        return "is not a number, range or step"
    start, end, step = matched.groups()
    if start in "*?":
        low, high = field.least, field.most
        if end:
            return "is not a range"
    else:
        found = [_value(each, field) for each in (start, end or start)]
        if found[0] is None or found[1] is None:
            return "is not a number, range or step"
        low, high = found[0], field.most if step and not end else found[1]
    if low < field.least or high > field.most:
        return f"is outside {field.least}-{field.most}"
    if low > high:
        return "ends before it begins"
    return "has a step of 0" if step is not None and not step.strip("0") else ""


def _value(text: str, field: _Field) -> int | None:
    if text.lower() in field.names:
        return field.least + field.names.index(text.lower())
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 9 else None
