"""A suppression whose last day is over.

`until` gives a suppression an end: from the next day on it hides nothing, and what it hid is
reported again. A text that is no day of the calendar ends nothing, which is told too. POLICYKIT_TODAY
sets the day that counts, for runs that must say the same tomorrow.
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


def check(asked: Suppressed, context: Context) -> Iterator[SuppressionViolation]:
    suppression = asked.suppression
    until = suppression.asked.until
    if suppression.expired:
        yield SuppressionViolation(
            f"the suppression held until {until} and hides nothing any more",
            "remove it and mend what it hid, or give it a later day",
        )
    elif until is not None and not suppression.asked.dated:
        given = f"{until!r} is no day of the calendar" if until else "no day follows `until`"
        yield SuppressionViolation(
            f"{given}, so the suppression has no end", "write the day as in `until 2030-12-31`"
        )


RULE = Rule(
    code="PK904",
    name="expired-suppression",
    severity=Severity.WARNING,
    subject=Suppressed,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
)
