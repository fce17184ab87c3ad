"""A YuniKorn queue has a property that YuniKorn does not read, or not so.

Unknown properties are ignored, and a value that is none becomes the default, with a line in the
debug log. A queue that a placement rule makes takes properties from the child template only.
"""

from __future__ import annotations

from collections.abc import Iterator

from policykit.linter.rule import Context, Rule, Violation
from policykit.manifests.document import Manifest
from policykit.model.severity import Severity
from policykit.targets.yunikorn import judged
from policykit.targets.yunikorn.checks import queue_properties

BAD = """\
partitions:
- name: default
  queues:
  - name: root
    submitacl: '*'
    queues:
    - name: research
      properties:
        application.sort.policy: FAIR
"""

GOOD = BAD.replace("FAIR", "fair")


def check(manifest: Manifest, context: Context) -> Iterator[Violation]:
    """Properties of queues and child templates, as the release of the policy reads them."""
    found = judged.as_far_as_decoded(manifest, context.cluster)
    if found is not None:
        version = judged.version_of(context.cluster)
        yield from judged.violations(found.certain(queue_properties.problems(found.tree, version)), manifest)


RULE = Rule(
    code="PK705",
    name="invalid-property",
    severity=Severity.WARNING,
    subject=Manifest,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    kinds=frozenset({judged.KIND}),
)
