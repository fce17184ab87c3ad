"""The whole report of a run, taken again while nothing that it was made of has changed."""

from __future__ import annotations

from collections.abc import Container

from policykit.cache.codec import DamagedError, decode, encode
from policykit.cache.findings import sound
from policykit.cache.folder import Cache, name_of
from policykit.linter.finding import Report

KEY = 32
"""Bytes of a key: it tells everything that a report depends on."""
_MOST = 1 << 26
"""Bytes of a report that is stored."""


def load(cache: Cache, key: bytes, paths: Container[str]) -> Report | None:
    """The report of a run over files with these reported paths; None: there is none."""
    raw = cache.load(name_of("report"))
    if raw[:KEY] != key or len(raw) > _MOST:
        return None
    try:
        (report,) = decode(Report, [raw[KEY:]])
    except DamagedError:
        return None
    named = all(path in paths for path, _ in report.skipped)
    whole = not (report.failures or report.times)
    return report if named and whole and sound(report.findings, paths) else None


def store(cache: Cache, key: bytes, report: Report) -> None:
    """Leaves a report to the next run, where every file could be read."""
    if report.failures or report.times:
        return
    try:
        (content,) = encode(Report, [report])
    except (RecursionError, TypeError, ValueError):
        return  # one that has no form as data is made again
    if KEY + len(content) <= _MOST:
        cache.store(name_of("report"), key + content)
