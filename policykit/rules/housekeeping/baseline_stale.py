"""An entry of the baseline that accepts what is no longer there.

The finding was mended, or its object is gone; the entry stays behind and would accept the same
mistake made anew. Told only by a run over everything the baseline speaks of, with the rules it
speaks of: a hook that looks at three files cannot know.
"""

from __future__ import annotations

from collections.abc import Iterator

from policykit.linter.rule import Context, Rule
from policykit.linter.subjects import StaleEntry, SuppressionViolation
from policykit.model.severity import Severity

BAD = """\
{
  "kind": "policykit-baseline",
  "version": 1,
  "covers": ["."],
  "findings": [
    {"rule": "PK201", "kind": "Pod", "name": "gone", "field": "/spec/containers[main]", "occurrences": 1}
  ]
}
"""
GOOD = """\
{
  "kind": "policykit-baseline",
  "version": 1,
  "covers": ["."],
  "findings": [
  ]
}
"""


def check(entry: StaleEntry, context: Context) -> Iterator[SuppressionViolation]:
    if entry.found:
        left = f"only {entry.found} of the {entry.accepted} that the baseline accepts are left"
    else:
        left = "the baseline accepts it, and it is not there any more"
    yield SuppressionViolation(
        f"{entry.finding}: {left}", "run `policykit baseline --prune`, so that it cannot come back unseen"
    )


RULE = Rule(
    code="PK909",
    name="baseline-stale",
    severity=Severity.INFO,
    subject=StaleEntry,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
)
