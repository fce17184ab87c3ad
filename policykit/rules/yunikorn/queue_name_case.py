"""A YuniKorn queue in capital letters that its limits or a placement rule do not find.

Queues run under their names in small letters. Limits of users and groups are kept under the name
as it is written and never match; a fixed rule looks for the small letters; and a top queue
`Root` is not the root that the scheduler needs.
"""

from __future__ import annotations

from collections.abc import Iterator

from policykit.linter.rule import Context, Rule, Violation
from policykit.manifests.document import Manifest
from policykit.model.severity import Severity
from policykit.targets.yunikorn import judged
from policykit.targets.yunikorn.checks import casing

BAD = """\
partitions:
- name: default
  queues:
  - name: root
    submitacl: '*'
    queues:
    - name: Research
      limits:
      - limit: everybody
        users: ['*']
        maxapplications: 10
"""

GOOD = BAD.replace("Research", "research")


def check(manifest: Manifest, context: Context) -> Iterator[Violation]:
    """Names that cost something; a queue in capitals that nothing refers to runs well."""
    found = judged.read(manifest, context.cluster)
    if found is not None:
        yield from judged.violations(casing.harmful(found.partition, found.tree), manifest)


RULE = Rule(
    code="PK707",
    name="queue-name-case",
    severity=Severity.WARNING,
    subject=Manifest,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    kinds=frozenset({judged.KIND}),
)
