"""Findings as numbers that Prometheus reads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from policykit.formats import FormatContext
from policykit.formats.findings import tally
from policykit.linter.finding import Report


def metrics(report: Report, context: FormatContext) -> str:
    """The text format of Prometheus: findings by rule, by severity, and what was read."""
    rules = Counter((one.code, one.name, one.severity.value) for one in report.findings)
    by_rule = [
        (f'code="{code}",name="{name}",severity="{severity}"', amount)
        for (code, name, severity), amount in sorted(rules.items())
    ]
    by_severity = [(f'severity="{severity}"', amount) for severity, amount in tally(report).items()]
    return "".join(
        (
            _gauge("policykit_findings", "Findings by rule.", by_rule),
            _gauge("policykit_findings_by_severity", "Findings by severity.", by_severity),
            _gauge("policykit_objects", "Kubernetes objects looked at.", [("", report.documents)]),
            _gauge("policykit_suppressed", "Findings that are suppressed.", [("", report.suppressed)]),
            _gauge("policykit_failures", "What could not be read.", [("", len(report.failures))]),
        )
    )


def _gauge(name: str, caption: str, values: Iterable[tuple[str, int]]) -> str:
    """Labels are names of rules and severities: nothing in them needs quoting."""
    lines = [f"# HELP {name} {caption}", f"# TYPE {name} gauge"]
    lines += [f"{name}{{{labels}}} {value}" if labels else f"{name} {value}" for labels, value in values]
    return "\n".join(lines) + "\n"
