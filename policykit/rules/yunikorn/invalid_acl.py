"""A YuniKorn access list fails when its queue is created, or leaves out users.

An access list is a list of users, exactly one space, and a list of groups. The validator only counts
words, but the queue is created from the text: a second space makes the whole configuration fail,
names after a comma and a space are groups, and names with invalid characters are ignored.
"""

from __future__ import annotations

from collections.abc import Iterator

from policykit.linter.rule import Context, Rule, Violation
from policykit.manifests.document import Manifest
from policykit.model.severity import Severity
from policykit.rules.yunikorn.queue_config import violations
from policykit.targets.yunikorn import NAME
from policykit.targets.yunikorn.default_partition import read_partial
from policykit.targets.yunikorn.validation import failures

BAD = """\
partitions:
- name: default
  queues:
  - name: root
    queues:
    - name: research
      submitacl: "ann,bob  research"
"""

GOOD = BAD.replace("bob  research", "bob research")


def check(manifest: Manifest, context: Context) -> Iterator[Violation]:
    """Every list that the validator accepts. Source: core common/security/acl.go, 1.9."""
    found = read_partial(manifest, context.cluster)
    if found is not None:
        yield from violations(failures.access_list_problems(found.tree), manifest, found)


RULE = Rule(
    code="PK703",
    name="invalid-acl",
    severity=Severity.ERROR,
    subject=Manifest,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    kinds=frozenset({NAME}),
)
