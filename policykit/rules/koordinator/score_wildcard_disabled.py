"""A profile of koord-scheduler disables every plugin that scores.

This includes the plugins that honour preferences: preferred node and pod affinity,
PreferNoSchedule taints and spreading with ScheduleAnyway. Pods still run, but not where they
should.
"""

from __future__ import annotations

from collections.abc import Iterator

from policykit.linter.rule import Context, Rule, Violation
from policykit.manifests.document import Manifest
from policykit.model.severity import Severity
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
      disabled:
      - name: "*"
      enabled:
      - name: LoadAwareScheduling
"""

GOOD = BAD.replace('name: "*"', "name: NodeResourcesFit")


def check(manifest: Manifest, context: Context) -> Iterator[Violation]:
    """Plugins that are enabled again by name are intended."""
    for profile in scheduler_configuration.read(manifest).profiles:
        yield from scheduler_configuration.violations(manifest, validator.disabled_scores(profile))


RULE = Rule(
    code="PK604",
    name="score-wildcard-disabled",
    severity=Severity.WARNING,
    subject=Manifest,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    kinds=frozenset({KIND}),
)
