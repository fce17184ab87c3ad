"""How grave a finding is, and how far a fix may be trusted."""

from enum import StrEnum


class Severity(StrEnum):
    """Error: refused, never runs, never takes effect, or forbidden by the policy.

    Warning: very probably not meant. Info: advice, never fails a run.
    """

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"

    @property
    def rank(self) -> int:
        """0 is the gravest."""
        return ("error", "warning", "info").index(self.value)


class Applicability(StrEnum):
    """Safe: proven by landing before and after. Unsafe: a person should look."""

    SAFE = "safe"
    UNSAFE = "unsafe"
