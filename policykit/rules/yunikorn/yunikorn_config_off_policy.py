"""A YuniKorn configuration lacks what the policy asks for.

Queues of the policy that are not there, amounts, access lists and priorities that differ, nodes
in another order: then the cluster shares its cards otherwise than the policy says, and whoever
reads the policy is misled. `policykit gen` writes the configuration of a policy.
"""

from __future__ import annotations

from collections.abc import Iterator

from policykit.errors import PolicykitError
from policykit.linter.rule import Context, Rule, Violation
from policykit.manifests.document import Manifest
from policykit.model.severity import Severity
from policykit.targets.yunikorn import judged
from policykit.targets.yunikorn.checks import off_policy
from policykit.targets.yunikorn.derived.configured import configured
from policykit.targets.yunikorn.derived.paths import paths

BAD = """\
partitions:
- name: default
  nodesortpolicy: {type: fair}
  queues:
  - name: root
    submitacl: '*'
"""

GOOD = """\
partitions:
- name: default
  nodesortpolicy:
    type: binpacking
    resourceweights: {memory: 1, nvidia.com/gpu: 17, vcore: 1}
  placementrules:
  - name: provided
  - {name: tag, value: namespace.parentqueue}
  - name: tag
    value: namespace
    create: true
    parent: {name: tag, value: namespace.parentqueue}
  - {name: fixed, value: root.default}
  queues:
  - name: root
    queues:
    - name: research
      resources:
        guaranteed: {nvidia.com/gpu: 96}
        max: {nvidia.com/gpu: 128}
      queues:
      - name: team-a
        submitacl: " team-a"
        resources:
          guaranteed: {nvidia.com/gpu: 64}
      - name: team-b
        submitacl: " team-b"
        resources:
          guaranteed: {nvidia.com/gpu: 32}
    - name: production
      submitacl: " serving"
      resources:
        guaranteed: {nvidia.com/gpu: 64}
        max: {nvidia.com/gpu: 64}
    - name: default
      submitacl: '*'
"""


def check(manifest: Manifest, context: Context) -> Iterator[Violation]:
    """Against the configuration that the policy generates; silent where it cannot be generated."""
    cluster = context.cluster
    target = cluster.targets.get("yunikorn") if cluster else None
    found = judged.read(manifest, cluster)
    if cluster is None or target is None or found is None:
        return
    try:
        wanted = configured(cluster, target).configuration.partitions[0]
    except PolicykitError:
        return
    listed = paths(cluster.queues).values()
    problems = off_policy.problems(found.partition, found.tree, found.path, wanted, listed)
    yield from judged.violations(problems, manifest)


RULE = Rule(
    code="PK712",
    name="yunikorn-config-off-policy",
    severity=Severity.WARNING,
    subject=Manifest,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    kinds=frozenset({judged.KIND}),
    needs_policy=True,
)
