"""A suppression has expired, or its expiry date is invalid.

A suppression with `until` is ignored from the day after that date, and its findings are reported
again. An invalid date never expires, which is also reported. POLICYKIT_TODAY overrides the current
date for reproducible runs.
"""

from __future__ import annotations

from collections.abc import Iterator

from policykit.linter.rule import Context, Rule, Violation
from policykit.linter.suppressions import SuppressionUse
from policykit.model.severity import Severity

BAD = """\
apiVersion: v1
kind: Pod
metadata:
  name: infer
spec:
  containers:
  - name: main
    image: registry.example.com/infer:1.0
    resources:
      requests:
        nvidia.com/gpu: 1  # policykit: ignore[PK201] until 2025-12-31 -- the webhook adds the limit
"""
GOOD = """\
apiVersion: v1
kind: Pod
metadata:
  name: infer
spec:
  containers:
  - name: main
    image: registry.example.com/infer:1.0
    resources:
      requests:
        nvidia.com/gpu: 1
      limits:
        nvidia.com/gpu: 1
"""


def check(use: SuppressionUse, context: Context) -> Iterator[Violation]:
    suppression = use.suppression
    until = suppression.directive.until
    if suppression.expired:
        yield Violation(
            suppression.span,
            f"the suppression expired on {until}",
            "remove it and fix the finding, or extend the date",
        )
    elif until is not None and not suppression.directive.dated:
        given = f"{until!r} is not a date" if until else "`until` has no date"
        yield Violation(
            suppression.span,
            f"{given}, so the suppression never expires",
            "write a date such as `until 2030-12-31`",
        )


RULE = Rule(
    code="PK904",
    name="expired-suppression",
    severity=Severity.WARNING,
    subject=SuppressionUse,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
)
