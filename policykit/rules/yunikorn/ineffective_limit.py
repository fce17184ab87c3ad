"""A YuniKorn queue has an amount that has no effect, or another one than it looks.

YuniKorn takes any name for a resource. Pods count as vcore, memory, pods and what else they
request by its Kubernetes name: an amount of `cpu` or `gpu` limits nobody. A max of zeros alone
is no max, and plain numbers from before release 1.0 are bytes and whole cores today.
"""

from __future__ import annotations

from collections.abc import Iterator

from policykit.linter.rule import Context, Rule, Violation
from policykit.manifests.document import Manifest
from policykit.model.severity import Severity
from policykit.targets.yunikorn import judged
from policykit.targets.yunikorn.checks import amiss

BAD = """\
partitions:
- name: default
  queues:
  - name: root
    submitacl: '*'
    queues:
    - name: research
      resources:
        max: {cpu: 64, memory: 256Gi}
"""

GOOD = BAD.replace("cpu: 64", "vcore: 64")


def check(manifest: Manifest, context: Context) -> Iterator[Violation]:
    """Amounts of queues, limits, child templates, and weights of nodes."""
    found = judged.as_far_as_decoded(manifest, context.cluster)
    if found is None:
        return
    path, tree = found.path, found.tree
    errors = (each._replace(severity=Severity.ERROR) for each in amiss.names(found.partition, tree, path))
    for problems in (errors, amiss.zeros(tree), amiss.old_units(tree)):
        yield from judged.violations(found.certain(problems), manifest)
    if context.cluster is None or "yunikorn" not in context.cluster.targets:
        # Else the policy weighs what nodes are packed by, and PK712 compares.
        weighed = amiss.unweighted_cards(found.partition.node_sort, tree, path)
        yield from judged.violations(found.certain(weighed), manifest)


RULE = Rule(
    code="PK704",
    name="ineffective-limit",
    severity=Severity.WARNING,
    subject=Manifest,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    kinds=frozenset({judged.KIND}),
)
