"""A plugin of Koordinator scores without having prepared it.

NodeResourcesFitPlus and ScarceResourceAvoidance read at score what they wrote at preScore.
Enabled at score alone they fail every pod that fits on two nodes or more. With a single node
scoring is skipped, so a small test does not show it.
"""

from __future__ import annotations

from collections.abc import Iterator

from policykit.linter.rule import Context, Rule, Violation
from policykit.manifests.document import Manifest
from policykit.model.severity import Applicability, Severity
from policykit.rules.koordinator import scheduler_configuration
from policykit.targets.koordinator.scheduler import validator
from policykit.targets.koordinator.scheduler.configuration import KIND

BAD = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: koord-scheduler
  plugins:
    score:
      enabled:
      - name: NodeResourcesFitPlus
        weight: 2
  pluginConfig:
  - name: NodeResourcesFitPlus
    args:
      resources:
        nvidia.com/gpu: {type: MostAllocated, weight: 2}
        cpu: {type: LeastAllocated, weight: 1}
"""

GOOD = BAD.replace(
    "  plugins:\n", "  plugins:\n    preScore:\n      enabled:\n      - name: NodeResourcesFitPlus\n"
)


def check(manifest: Manifest, context: Context) -> Iterator[Violation]:
    """Source: the plugins' Score, which reads the cycle state of their PreScore (1.6 to 1.8)."""
    configuration = scheduler_configuration.read(manifest)
    readers = scheduler_configuration.readers(configuration, context)
    for profile in configuration.profiles:
        problems = validator.unprepared_scores(profile, readers)
        yield from scheduler_configuration.violations(manifest, problems, Applicability.SAFE)


RULE = Rule(
    code="PK602",
    name="score-without-prescore",
    severity=Severity.ERROR,
    subject=Manifest,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    kinds=frozenset({KIND}),
    fix=Applicability.SAFE,
)
