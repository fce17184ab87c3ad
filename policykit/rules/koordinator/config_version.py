"""koord-scheduler does not start with its configuration.

Each release reads its own versions of KubeSchedulerConfiguration, and requires the right kind for
the args of each plugin. A plugin at a point that it does not implement, or two plugins that sort
the queue, prevent the start too. The file is read only at start, so a broken change goes
unnoticed until then.
"""

from __future__ import annotations

from collections.abc import Iterator

from policykit.linter.rule import Context, Rule, Violation
from policykit.manifests.document import Manifest
from policykit.model.severity import Applicability, Severity
from policykit.rules.koordinator import scheduler_configuration
from policykit.targets.koordinator import versions
from policykit.targets.koordinator.scheduler import validator
from policykit.targets.koordinator.scheduler.configuration import KIND

BAD = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: koord-scheduler
  pluginConfig:
  - name: LoadAwareScheduling
    args:
      apiVersion: kubescheduler.config.k8s.io/v1
      kind: LoadAwareScheduling
      nodeMetricExpirationSeconds: 300
"""

GOOD = BAD.replace("kind: LoadAwareScheduling", "kind: LoadAwareSchedulingArgs")


def check(manifest: Manifest, context: Context) -> Iterator[Violation]:
    """Unless the policy states a release, only what no release accepts."""
    configuration = scheduler_configuration.read(manifest)
    if not configuration.profiles:
        return
    for problem in validator.startup(configuration, versions.possible_versions(context.cluster)):
        if problem.path == ("apiVersion",) and configuration.api_version is None:
            continue
        # Which plugin is to sort the queue depends on the release.
        fix = None if "queueSort" in problem.path else Applicability.UNSAFE
        yield from scheduler_configuration.violations(manifest, (problem,), fix)


RULE = Rule(
    code="PK601",
    name="config-version",
    severity=Severity.ERROR,
    subject=Manifest,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    kinds=frozenset({KIND}),
    fix=Applicability.UNSAFE,
)
