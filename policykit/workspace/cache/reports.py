"""Cached reports of whole runs, valid while all their inputs are unchanged."""

from __future__ import annotations

from collections.abc import Container

from policykit.linter.finding import Report
from policykit.workspace.cache.codec import DamagedError, decode, encode
from policykit.workspace.cache.findings import sound
from policykit.workspace.cache.folder import Cache, name_of

KEY = 32
"""Size of a key in bytes; a key covers everything a report depends on."""
_MOST = 1 << 26
"""Most bytes of a stored report."""
_PART = 256
"""Number of findings encoded together, as a separate report on one line."""


def load(cache: Cache, key: bytes, paths: Container[str]) -> Report | None:
    """The report of a run over files with these reported paths; None if there is none."""
    raw = cache.load(name_of("report"))
    if raw[:KEY] != key or len(raw) > _MOST:
        return None
    try:
        parts = [decode(Report, [text])[0] for text in raw[KEY:].split(b"\n")]
    except DamagedError:
        return None
    report = parts[0]._replace(findings=tuple(finding for part in parts for finding in part.findings))
    named = all(path in paths for path, _ in report.skipped)
    whole = not (report.failures or report.times)
    return report if named and whole and sound(report.findings, paths) else None


def store(cache: Cache, key: bytes, report: Report) -> None:
    """Stores a report for the next run, if every file could be read."""
    if report.failures or report.times:
        return
    starts = range(0, max(len(report.findings), 1), _PART)
    parts = [report._replace(findings=report.findings[start : start + _PART]) for start in starts]
    try:
        content = b"\n".join(text for part in parts for text in encode(Report, [part]))
    except (RecursionError, TypeError, ValueError):
        return  # one that has no form as data is made again
    if KEY + len(content) <= _MOST:
        cache.store(name_of("report"), key + content)
