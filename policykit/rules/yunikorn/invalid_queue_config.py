"""YuniKorn refuses a queue configuration.

The scheduler validates queues.yaml as a whole. With one unknown key, or one amount that exceeds
another, it keeps its old queues, or does not start if it has none. The admission webhook that would
report it is often unreachable, and then accepts everything.
"""

from __future__ import annotations

from collections.abc import Iterator

from policykit.linter.rule import Context, Rule, Violation
from policykit.manifests.document import Manifest
from policykit.model.severity import Severity
from policykit.rules.yunikorn.queue_config import violations
from policykit.targets.yunikorn import NAME, validation, versions

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
    """Everything YuniKorn's own validator refuses, and keys and types it cannot decode."""
    stated = versions.release_of(context.cluster)
    yield from violations(validation.agreed_problems(manifest.data, stated), manifest)


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
