"""A baseline entry accepts findings that no longer exist.

The finding was fixed, or its object was deleted, and the entry would accept the same mistake again.
Entries are reported only by a run over all files and rules of the baseline, not by a hook that checks
a few files.
"""

from __future__ import annotations

from collections.abc import Iterator

from policykit.linter.rule import Context, Rule, StaleEntry, Violation
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


def check(entry: StaleEntry, context: Context) -> Iterator[Violation]:
    if entry.found:
        left = f"the baseline accepts {entry.accepted} findings, but only {entry.found} remain"
    else:
        left = "the baseline accepts it, but it no longer exists"
    yield Violation(
        entry.span,
        f"{entry.finding}: {left}",
        "run `policykit baseline --prune`, so that it is reported if it returns",
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
