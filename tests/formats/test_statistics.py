"""Findings and time by rule."""

from __future__ import annotations

from policykit.formats.statistics import statistics, timings
from policykit.linter.finding import Report
from tests.formats.reports import EMPTY, FINDING, NOTE, REPORT


def test_statistics() -> None:
    many = Report((FINDING,) * 10 + (NOTE,), 1, 1)
    assert statistics(many) == ["10  PK101  missing-toleration", " 1  PK008  unknown-api-kind"]
    assert [line.split()[1] for line in statistics(REPORT)] == ["PK008", "PK101"]
    assert statistics(EMPTY) == []


def test_timings() -> None:
    timed = EMPTY._replace(times=(("PK001", 0.001), ("PK101", 0.25)))
    assert timings(timed) == ["     250.0 ms  PK101", "       1.0 ms  PK001", "     251.0 ms  all rules"]
