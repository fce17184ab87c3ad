"""A configuration that koord-scheduler does not start with.

Each release reads its own versions of KubeSchedulerConfiguration, and args of its plugins only
under their right kind. A plugin at a point that it does not implement, or two plugins that sort
the queue, stop it too. It reads the file when it starts: the change seems to work until then.
"""

from __future__ import annotations

from collections.abc import Iterator

from policykit.linter.rule import Context, Rule, Violation
from policykit.manifests.document import Manifest
from policykit.model.severity import Applicability, Severity
from policykit.targets.koordinator.checks import releases, starting, whose

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
    """Without a stated release only what no release accepts."""
    data = manifest.data
    if not whose.is_koordinators(data):
        return
    possible = releases.possible(context.cluster)
    reading = releases.reading(data, context.cluster)
    yield from starting.outer_version(data, possible)
    if any(releases.starts_with(data.get("apiVersion"), each) for each in possible):
        yield from starting.inner_versions(data, reading)
    yield from starting.misplaced(data, reading)
    yield from starting.queue_sorts(data)
    yield from starting.split_profiles(data)


RULE = Rule(
    code="PK601",
    name="config-version",
    severity=Severity.ERROR,
    subject=Manifest,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    kinds=frozenset({whose.KIND}),
    fix=Applicability.UNSAFE,
)
