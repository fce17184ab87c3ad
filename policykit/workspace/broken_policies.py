"""Mistakes in policies: one in a base is told once, with the clusters that it breaks."""

from __future__ import annotations

from policykit.errors import PolicyError
from policykit.linter.finding import listed
from policykit.workspace.policies import name_of, shown_as


class BrokenPolicies:
    """Collects the mistakes of several policies."""

    def __init__(self) -> None:
        self._found: dict[str, dict[str, None]] = {}
        """Names of clusters by the text of a mistake."""
        self._elsewhere: set[str] = set()
        """Mistakes in a file that the policy extends."""

    def add(self, policy: str, error: PolicyError) -> None:
        """The mistakes of a policy, and of what it extends."""
        for problem in error.problems:
            text = str(problem)
            self._found.setdefault(text, {})[name_of(policy) or shown_as(policy)] = None
            if problem.place.rsplit(":", 2)[0] != shown_as(policy):
                self._elsewhere.add(text)

    def lines(self) -> list[str]:
        """Each mistake once."""
        return [
            f"{text}\n  breaks: {listed([*clusters])}" if text in self._elsewhere else text
            for text, clusters in self._found.items()
        ]
