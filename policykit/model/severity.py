"""Severity of findings, and applicability of fixes."""

from enum import StrEnum


class Severity(StrEnum):
    """Error: refused, never runs, never takes effect, or forbidden by the policy.

    Warning: very probably unintended. Info: advice, never fails a run.
    """

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"

    @property
    def rank(self) -> int:
        """0 is the most severe."""
        return ("error", "warning", "info").index(self.value)


class Applicability(StrEnum):
    """Safe: proven by placement before and after. Unsafe: needs review."""

    SAFE = "safe"
    UNSAFE = "unsafe"
