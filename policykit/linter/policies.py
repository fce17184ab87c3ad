"""Rules about policies: what they say, and what stands in their folders of generated files."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from policykit.linter.finding import Finding
from policykit.linter.registry import DECLARED, DRIFTED, RuleSet
from policykit.linter.rule import Context
from policykit.linter.subjects import DeclaredPolicy, GeneratedFile
from policykit.linter.violation import finding, locate


class Policy(NamedTuple):
    """A policy that a run looks at, not only with."""

    setting: int
    """Index into the run's settings: what it governs itself by."""
    declared: DeclaredPolicy | None = None
    """None: its file is not looked at, only what was generated from it."""
    drifted: tuple[GeneratedFile, ...] = ()
    file: str = ""
    """Its file, as reported."""

    def looked_at(self, path: str) -> bool:
        """Whether all that can be said of the policy file of that path is said in this run.

        What a base says is judged with every policy that extends it, and those may be elsewhere.
        """
        return self.declared is not None and path == self.file and not self.declared.base()


def check_policy(policy: Policy, rules: RuleSet, context: Context) -> Iterator[Finding]:
    """What the rules say of a policy and of its generated files; suppressions are not looked at."""
    if policy.declared is not None:
        yield from _declared(policy.declared, rules, context)
    for file in policy.drifted:
        for rule in rules.of(DRIFTED):
            for violation in rules.check(rule, file, context):
                yield finding(rule, violation, locate(violation, file.path))


def _declared(policy: DeclaredPolicy, rules: RuleSet, context: Context) -> Iterator[Finding]:
    for rule in rules.of(DECLARED):
        for violation in rules.check(rule, policy, context):
            yield finding(rule, violation, locate(violation, context.path, policy))
