"""Validity of cached findings: they must name files of the run and existing rules."""

from __future__ import annotations

from collections.abc import Container, Iterable

from policykit.linter.finding import Finding
from policykit.rules import CATALOGUE

_RULES = frozenset((entry.code, entry.name) for entry in CATALOGUE)


def sound(findings: Iterable[Finding], paths: Container[str]) -> bool:
    """Whether all findings are of existing rules, in files with these reported paths."""
    return all(finding.path in paths and (finding.code, finding.name) in _RULES for finding in findings)
