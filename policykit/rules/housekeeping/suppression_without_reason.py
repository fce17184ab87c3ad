"""A suppression that does not say why.

A year later nobody can tell whether it still has to be there. The rule is off unless it is asked
for, by its code or name (`lint: {select: [ALL, PK905]}` in the policy) or by the preset strict.
"""

from __future__ import annotations

from collections.abc import Iterator

from policykit.linter.rule import Context, Rule
from policykit.linter.subjects import SuppressionViolation
from policykit.linter.suppression import Suppressed
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


def check(asked: Suppressed, context: Context) -> Iterator[SuppressionViolation]:
    suppression = asked.suppression
    if suppression.asked.rules and not suppression.asked.reason:
        yield SuppressionViolation(
            f"the suppression of {', '.join(suppression.asked.rules)} gives no reason",
            "say at its end why the finding is right to stay: ` -- why`",
        )


RULE = Rule(
    code="PK905",
    name="suppression-without-reason",
    severity=Severity.WARNING,
    subject=Suppressed,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    on_request=True,
)
