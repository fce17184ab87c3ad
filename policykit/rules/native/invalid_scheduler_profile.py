"""A scheduler configuration that kube-scheduler refuses.

The scheduler reads it when it starts, and stops: with the control plane's own scheduler, no new
pod of the cluster is placed until the file is mended. Fields are read strictly, those of the
plugins' args too: one that is misspelt is as bad as a wrong number.
"""

from __future__ import annotations

from collections.abc import Iterator

from policykit.linter.rule import Context, Rule, Violation
from policykit.manifests.document import Manifest
from policykit.model.severity import Severity
from policykit.targets.koordinator.scheduler.configuration import is_koordinators
from policykit.targets.kubernetes.scheduler.checks import arguments, known_fields, profiles
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

    Of koord-scheduler's what holds for every scheduler: the rest is a matter of PK601 to PK605.
    """
    if manifest.partial:
        return
    if is_koordinators(manifest.data):
        from policykit.targets.koordinator.scheduler.plugins import PLUGINS

        yield from profiles.of_every_scheduler(manifest.data, frozenset(PLUGINS))
        yield from known_fields.faults(manifest.data, frozenset(PLUGINS))
        yield from arguments.faults(manifest.data, 0)
        return
    yield from profiles.version(manifest.data)
    version = context.cluster.kubernetes_version if context.cluster else ""
    yield from profiles.faults(manifest.data)
    yield from known_fields.faults(manifest.data)
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
