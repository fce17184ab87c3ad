"""A YuniKorn placement rule never places anything.

The validator checks only the form of placement rules. A rule with an unknown name, or a fixed rule
with an invalid path, keeps the whole configuration from being used; a rule whose parent queue is
missing never matches. Its applications go to the next rule, after the last one to root.default if
there is one, or else are rejected, and their pods fail, like those that a fixed rule places in a
queue which has queues below it.
"""

from __future__ import annotations

from collections.abc import Iterator

from policykit.linter.rule import Context, Rule, Violation
from policykit.manifests.document import Manifest
from policykit.model.severity import Severity
from policykit.rules.yunikorn.queue_config import violations
from policykit.targets.yunikorn import NAME, validation
from policykit.targets.yunikorn.default_partition import read_partial
from policykit.targets.yunikorn.validation import placement

BAD = """\
partitions:
- name: default
  placementrules:
  - name: namespace
    create: true
  queues:
  - name: root
    submitacl: '*'
"""

GOOD = BAD.replace("- name: namespace", "- name: tag\n    value: namespace")

_RULE = 4
"""Steps of the path of a placement rule: PK701 alone reports a rule that is refused."""


def check(manifest: Manifest, context: Context) -> Iterator[Violation]:
    """Rules of partition default that the validator accepts. Source: core placement/*.go, 1.9."""
    found = read_partial(manifest, context.cluster)
    if found is None:
        return
    refused = {problem.path[:_RULE] for problem in validation.refused(found.configuration)}
    dead = placement.dead_rules(found.partition.rules, found.tree.queue, (*found.path, "placementrules"))
    left = (problem for problem in dead if problem.path[:_RULE] not in refused)
    yield from violations(left, manifest, found)


RULE = Rule(
    code="PK702",
    name="placement-rule-dead",
    severity=Severity.ERROR,
    subject=Manifest,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    kinds=frozenset({NAME}),
)
