"""A suppression has no reason.

Without a reason nobody can tell later whether it is still needed. The rule is off by default; select
it by its code or name (`lint: {select: [ALL, PK905]}` in the policy) or with the preset strict.
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
        nvidia.com/gpu: 1  # policykit: ignore[PK201]
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
        nvidia.com/gpu: 1  # policykit: ignore[PK201] -- the webhook adds the limit
"""


def check(use: SuppressionUse, context: Context) -> Iterator[Violation]:
    suppression = use.suppression
    if suppression.directive.rules and not suppression.directive.reason:
        yield Violation(
            suppression.span,
            f"the suppression of {', '.join(suppression.directive.rules)} has no reason",
            "append the reason for keeping the finding: ` -- why`",
        )


RULE = Rule(
    code="PK905",
    name="suppression-without-reason",
    severity=Severity.WARNING,
    subject=SuppressionUse,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    on_request=True,
)
