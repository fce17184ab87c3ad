"""kube-scheduler refuses its configuration.

The scheduler reads it at start-up and exits: if it is the control plane's own, no new pod is placed
until the file is corrected. Unknown fields are errors, also in the args of plugins: a misspelt one
is as bad as a wrong number.
"""

from __future__ import annotations

from collections.abc import Iterator

from policykit.linter.rule import Context, Rule, Violation
from policykit.manifests.document import Manifest
from policykit.model.severity import Severity
from policykit.rules.native import scheduler_arguments as arguments
from policykit.rules.native import scheduler_fields as fields
from policykit.rules.native import scheduler_profiles as profiles
from policykit.targets.koordinator.scheduler.configuration import is_for_koordinator
from policykit.targets.kubernetes.versions import parse

BAD = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: packing
  pluginConfig:
  - name: NodeResourcesFit
    args:
      scoringStrategy:
        resources:
        - name: nvidia.com/gpu
          weight: 10
"""

GOOD = BAD.replace("      scoringStrategy:\n", "      scoringStrategy:\n        type: MostAllocated\n")


def check(manifest: Manifest, context: Context) -> Iterator[Violation]:
    """The whole configuration; the version where the policy states one, else the oldest supported.

    Of koord-scheduler's only what applies to every scheduler: PK601 to PK605 report the rest.
    """
    if manifest.partial:
        return
    if is_for_koordinator(manifest.data):
        from policykit.targets.koordinator.scheduler.plugins import PLUGINS

        yield from profiles.of_every_scheduler(manifest.data, frozenset(PLUGINS))
        yield from fields.faults(manifest.data, frozenset(PLUGINS))
        yield from arguments.faults(manifest.data, 0)
        return
    yield from profiles.version(manifest.data)
    version = context.cluster.kubernetes_version if context.cluster else ""
    yield from profiles.faults(manifest.data)
    yield from fields.faults(manifest.data)
    yield from arguments.faults(manifest.data, parse(version).minor if version else 0)


RULE = Rule(
    code="PK802",
    name="invalid-scheduler-profile",
    severity=Severity.ERROR,
    subject=Manifest,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    kinds=frozenset({"KubeSchedulerConfiguration"}),
)
