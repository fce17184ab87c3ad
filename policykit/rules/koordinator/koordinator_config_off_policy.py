"""A koord-scheduler-config lacks what the policy asks for.

Cards that the policy packs are spread, queues and gangs that it names have no plugin that heeds
them: the cluster does otherwise than the policy says. `policykit gen` puts what is missing into
a given configuration and keeps every other line.
"""

from __future__ import annotations

from collections.abc import Iterator

from policykit.linter.rule import Context, Rule, Violation
from policykit.manifests.document import Manifest
from policykit.model.severity import Severity
from policykit.targets.koordinator.checks import whose
from policykit.targets.koordinator.names import SYSTEM

BAD = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: koord-scheduler
  plugins:
    permit:
      enabled:
      - name: Coscheduling
"""

GOOD = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: koord-scheduler
  plugins:
    multiPoint:
      enabled:
      - name: Coscheduling
    preScore:
      enabled:
      - name: NodeResourcesFitPlus
    score:
      enabled:
      - name: NodeResourcesFitPlus
        weight: 57
  pluginConfig:
  - name: NodeResourcesFitPlus
    args:
      resources:
        cpu: {type: LeastAllocated, weight: 2}
        example.com/dongle: {type: MostAllocated, weight: 20}
        memory: {type: LeastAllocated, weight: 1}
"""


def check(manifest: Manifest, context: Context) -> Iterator[Violation]:
    """Where the policy has Koordinator as a target."""
    cluster = context.cluster
    if cluster is None or SYSTEM not in cluster.targets or not whose.is_koordinators(manifest.data):
        return
    from policykit.targets.koordinator.checks import policy

    for each in policy.lacking(cluster, manifest.data):
        yield Violation(
            each.path,
            f"the policy asks for {each.what}: this configuration differs",
            "run policykit gen with this configuration as targets.koordinator.config, or write it by hand",
        )


RULE = Rule(
    code="PK608",
    name="koordinator-config-off-policy",
    severity=Severity.WARNING,
    subject=Manifest,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    kinds=frozenset({whose.KIND}),
    needs_policy=True,
)
