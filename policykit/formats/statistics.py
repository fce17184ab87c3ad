"""Statistics of a run: findings and time per rule."""

from __future__ import annotations

from collections import Counter

from policykit.linter.finding import Report


def statistics(report: Report) -> list[str]:
    """A line per rule with findings, most frequent first."""
    amounts = Counter((finding.code, finding.name) for finding in report.findings)
    width = max((len(str(amount)) for amount in amounts.values()), default=0)
    ordered = sorted(amounts.items(), key=lambda item: (-item[1], item[0]))
    return [f"{amount:>{width}}  {code}  {name}" for (code, name), amount in ordered]


def timings(report: Report) -> list[str]:
    """A line per rule, slowest first, and their sum; in milliseconds over all processes."""
    ordered = sorted(report.times, key=lambda item: (-item[1], item[0]))
    whole = sum(seconds for _, seconds in ordered)
    lines = [f"{seconds * 1000:>10.1f} ms  {code}" for code, seconds in ordered]
    return [*lines, f"{whole * 1000:>10.1f} ms  all rules"]
