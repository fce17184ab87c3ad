"""A Volcano configuration combines parts that do not work together.

Two plugins that share among queues both enforce their limits on every job. Two ways of sharing cards make
the scheduler exit. Actions that evict gangs and actions that evict pods work against each other.
"""

from __future__ import annotations

from collections.abc import Iterator

from policykit.linter.rule import Context, Rule, Violation, violation_of
from policykit.manifests.document import Manifest
from policykit.model.severity import Severity
from policykit.targets.volcano.scheduler import configuration, validator

BAD = """\
actions: "allocate, reclaim, backfill"
tiers:
- plugins:
  - name: priority
  - name: gang
    enableReclaimable: false
  - name: capacity
- plugins:
  - name: predicates
  - name: proportion
  - name: nodeorder
"""

GOOD = BAD.replace("  - name: proportion\n", "")


def check(manifest: Manifest, context: Context) -> Iterator[Violation]:
    """Each pair once, at the second of the two."""
    for problem in validator.conflicts(configuration.read(manifest.data)):
        yield violation_of(problem)


RULE = Rule(
    code="PK505",
    name="plugin-conflict",
    severity=Severity.ERROR,
    subject=Manifest,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    kinds=frozenset({"volcano-scheduler.conf"}),
)
