"""A YuniKorn queue is set up to preempt, and nothing around it is guaranteed.

Only a queue below its guaranteed amount, its own or that of a queue above, takes resources back
from others. Without one, a preemption delay, a fence or a priority never preempts anything.
"""

from __future__ import annotations

from collections.abc import Iterator

from policykit.linter.rule import Context, Rule, Violation
from policykit.manifests.document import Manifest
from policykit.model.severity import Severity
from policykit.targets.yunikorn import judged
from policykit.targets.yunikorn.checks import preempting

BAD = """\
partitions:
- name: default
  queues:
  - name: root
    submitacl: '*'
    queues:
    - name: research
      properties:
        preemption.delay: 10s
      resources:
        max: {vcore: 64}
"""

GOOD = BAD.replace("        max:", "        guaranteed: {vcore: 16}\n        max:")


def check(manifest: Manifest, context: Context) -> Iterator[Violation]:
    """Queues of a partition that preempts; one guarantee at, above or below is enough."""
    found = judged.read(manifest, context.cluster)
    if found is not None:
        cluster = context.cluster
        planned = (
            {queue.name for queue in cluster.queues} if cluster and "yunikorn" in cluster.targets else set()
        )
        problems = preempting.problems(found.partition, found.tree, planned)
        yield from judged.violations(problems, manifest)


RULE = Rule(
    code="PK711",
    name="preemption-without-guarantee",
    severity=Severity.WARNING,
    subject=Manifest,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    kinds=frozenset({judged.KIND}),
)
