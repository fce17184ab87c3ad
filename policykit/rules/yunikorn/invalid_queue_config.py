"""A queue configuration that YuniKorn refuses.

The scheduler checks queues.yaml as a whole. One key it does not know, one amount that does not
fit into another, and it keeps its old queues, or does not start where it has none. The webhook
that would say so is often not reached, and then lets everything pass.
"""

from __future__ import annotations

from collections.abc import Iterator

from policykit.linter.rule import Context, Rule, Violation
from policykit.manifests.document import Manifest
from policykit.model.severity import Severity
from policykit.rules.yunikorn.queue_config import violations
from policykit.targets.yunikorn import validator, versions
from policykit.targets.yunikorn.text import NAME

BAD = """\
partitions:
- name: default
  queues:
  - name: root
    queues:
    - name: research
      resources:
        guaranteed: {memory: 64Gi}
        max: {memory: 32Gi}
"""

GOOD = BAD.replace("max: {memory: 32Gi}", "max: {memory: 128Gi}").replace(
    "  - name: root\n", "  - name: root\n    submitacl: '*'\n"
)


def check(manifest: Manifest, context: Context) -> Iterator[Violation]:
    """Everything its own validator refuses, and keys and types it does not decode."""
    version = versions.stated(context.cluster) or versions.parse("")
    yield from violations(validator.problems(manifest.data, version), manifest)


RULE = Rule(
    code="PK701",
    name="invalid-queue-config",
    severity=Severity.ERROR,
    subject=Manifest,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    kinds=frozenset({NAME}),
)
