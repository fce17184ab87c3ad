"""Findings as a table states them: where one stands, and how severe it is at least."""

from collections.abc import Iterable
from typing import NamedTuple

from policykit.linter.finding import Finding
from policykit.model.severity import Severity


class Expected(NamedTuple):
    """A finding that a file must have."""

    document: int
    pointer: str
    """The finding stands here or below."""
    least: Severity

    def among(self, findings: Iterable[Finding]) -> bool:
        return any(self._is(one) for one in findings)

    def _is(self, one: Finding) -> bool:
        below = one.pointer == self.pointer or one.pointer.startswith(f"{self.pointer}/")
        return one.document == self.document and below and one.severity.rank <= self.least.rank
