"""A YuniKorn access list that fails when its queue is made, or that leaves people out.

An access list is a list of users, exactly one space, and a list of groups. The validator counts
words, but the queue is made from the text: a second space stops the whole configuration, what
follows a comma and a space is a group, and names in a form it does not know are dropped.
"""

from __future__ import annotations

from collections.abc import Iterator

from policykit.linter.rule import Context, Rule, Violation
from policykit.manifests.document import Manifest
from policykit.model.severity import Severity
from policykit.rules.yunikorn.queue_config import violations
from policykit.targets.yunikorn.default_partition import read_partly
from policykit.targets.yunikorn.text import NAME
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
    """Every list that the validator lets pass. Source: core common/security/acl.go, 1.9."""
    found = read_partly(manifest, context.cluster)
    if found is not None:
        yield from violations(failures.access_lists(found.tree), manifest, found)


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
