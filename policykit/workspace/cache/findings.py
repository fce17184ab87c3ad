"""What must hold of findings beside their types: they name files of the run, and rules that exist."""

from __future__ import annotations

from collections.abc import Container, Iterable

from policykit.linter.finding import Finding
from policykit.rules import CATALOGUE

_RULES = frozenset((entry.code, entry.name) for entry in CATALOGUE)


def sound(findings: Iterable[Finding], paths: Container[str]) -> bool:
    """Whether all are of rules that exist, in files with these reported paths: those are read again."""
    return all(finding.path in paths and (finding.code, finding.name) in _RULES for finding in findings)
