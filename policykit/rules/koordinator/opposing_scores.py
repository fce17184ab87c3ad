"""One plugin packs what another one spreads.

NodeResourcesFitPlus packs cards while NodeResourcesFit, DeviceShare or NodeNUMAResource still
score the same resource the other way. Whoever weighs more wins, and the placement that was asked
for does not come about.
"""

from __future__ import annotations

from collections.abc import Iterator

from policykit.linter.rule import Context, Rule, Violation
from policykit.manifests.document import Manifest
from policykit.model.severity import Severity
from policykit.targets.koordinator.checks import opposed, releases, whose

BAD = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: koord-scheduler
  plugins:
    preScore:
      enabled:
      - name: NodeResourcesFitPlus
    score:
      enabled:
      - name: DeviceShare
      - name: NodeResourcesFitPlus
        weight: 2
  pluginConfig:
  - name: NodeResourcesFitPlus
    args:
      resources:
        nvidia.com/gpu: {type: MostAllocated, weight: 1}
"""

GOOD = (
    BAD
    + """\
  - name: DeviceShare
    args:
      scoringStrategy:
        type: MostAllocated
        resources:
        - {name: koordinator.sh/gpu-memory-ratio, weight: 1}
"""
)


def check(manifest: Manifest, context: Context) -> Iterator[Violation]:
    """Silent where NodeResourcesFitPlus outweighs the other even for one card more in use."""
    version = releases.reading(manifest.data, context.cluster)[-1]
    for path, profile in whose.profiles(manifest.data):
        for found in opposed.opposed(profile, version, context.cluster):
            yield Violation(
                (*path, *found.path, found.resource),
                f"NodeResourcesFitPlus scores {found.resource} {found.type}, but {found.plugin} scores it "
                f"{found.other}, with {found.against} points against {found.points}",
                f"disable {found.plugin} at score, give it scoringStrategy type {found.type}, or raise the "
                "weight of NodeResourcesFitPlus",
                key=True,
            )


RULE = Rule(
    code="PK606",
    name="opposing-scores",
    severity=Severity.WARNING,
    subject=Manifest,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    kinds=frozenset({whose.KIND}),
)
