"""Changes of koord-scheduler-config that the next `helm upgrade` takes back.

The ConfigMap is part of Koordinator's chart, and no value of the chart reaches what is in it. A
change that is applied beside the chart holds until the chart is installed again; then the
scheduler starts with the chart's own configuration.
"""

from __future__ import annotations

from collections.abc import Iterator

from policykit.linter.rule import Context, Rule, Violation
from policykit.manifests.document import Manifest
from policykit.model.severity import Severity
from policykit.targets.koordinator.checks import whose
from policykit.targets.koordinator.names import SYSTEM

BAD = """\
apiVersion: v1
kind: ConfigMap
metadata:
  name: koord-scheduler-config
  namespace: koordinator-system
  labels:
    app.kubernetes.io/managed-by: Helm
data:
  koord-scheduler-config: |
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
          - name: NodeResourcesFitPlus
      pluginConfig:
      - name: NodeResourcesFitPlus
        args:
          resources:
            nvidia.com/gpu: {type: MostAllocated, weight: 1}
"""

GOOD = BAD.replace("app.kubernetes.io/managed-by: Helm", "team: platform")

_NAME = "koord-scheduler-config"
_OF_HELM = {"app.kubernetes.io/managed-by": "Helm", "meta.helm.sh/release-name": ""}
"""Label and annotation of what Helm installed; with an empty value any will do."""


def check(manifest: Manifest, context: Context) -> Iterator[Violation]:
    """A ConfigMap that is Helm's: by its marks, whatever the policy says of the delivery."""
    cluster, holder = context.cluster, manifest.holder
    if cluster is None or SYSTEM not in cluster.targets or holder is None or holder.partial:
        return
    if holder.kind != "ConfigMap" or holder.name != _NAME or not _is_helms(holder):
        return
    from policykit.targets.koordinator.checks import policy

    changed = policy.beside_chart(cluster, manifest.data, holder.namespace or "koordinator-system")
    if changed:
        version = cluster.targets[SYSTEM].version
        yield Violation(
            (),
            f"Helm owns this ConfigMap, and Koordinator's chart{' ' + version if version else ''} says "
            f"otherwise of {', '.join(changed)}: the next helm upgrade takes that back",
            "make the change after rendering: delivery: post-render, then policykit gen",
        )


def _is_helms(holder: Manifest) -> bool:
    marks = {**holder.annotations, **holder.labels}
    return any(key in marks and value in ("", marks[key]) for key, value in _OF_HELM.items())


RULE = Rule(
    code="PK607",
    name="overwritten-by-chart",
    severity=Severity.WARNING,
    subject=Manifest,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    kinds=frozenset({whose.KIND}),
    needs_policy=True,
)
