"""The next `helm upgrade` reverts changes of koord-scheduler-config.

The ConfigMap belongs to Koordinator's chart, and of the chart's values only
`scheduler.enableJobPreemption` (1.7) and `scheduler.deviceShare.gpuShareUnsupportedModels` (1.8) reach
its contents. Any other change lasts until the next upgrade; then the scheduler starts with the chart's
own configuration again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policykit.errors import PolicykitError
from policykit.linter.rule import Context, Rule, Violation
from policykit.manifests.document import Manifest
from policykit.model.severity import Severity
from policykit.targets.koordinator.names import TARGET_NAME
from policykit.targets.koordinator.scheduler import chart
from policykit.targets.koordinator.scheduler.configuration import KIND, read
from policykit.targets.koordinator.scheduler.plugins import MULTI_POINT
from policykit.targets.koordinator.versions import parse

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

_MODELS = "gpuShareUnsupportedModels"
"""The field that a value of the chart sets."""
_HELM_MARKS = {"app.kubernetes.io/managed-by": "Helm", "meta.helm.sh/release-name": ""}
"""Label and annotation of what Helm installed; an empty value matches any."""


def check(manifest: Manifest, context: Context) -> Iterator[Violation]:
    """A ConfigMap that Helm marks as its own, whatever delivery the policy states."""
    cluster, holder = context.cluster, manifest.holder
    if cluster is None or TARGET_NAME not in cluster.targets or holder is None or holder.partial:
        return
    if holder.kind != "ConfigMap" or holder.name != chart.CONFIG_MAP or not _is_helms(holder):
        return
    version = cluster.targets[TARGET_NAME].version
    try:
        release = parse(version)
    except PolicykitError:
        return
    namespace = holder.namespace or chart.NAMESPACE
    rendered = (chart.configuration(release, namespace, job_preemption=each) for each in (True, False))
    changed = min((_changed(manifest.data, each) for each in rendered), key=len)
    if changed:
        yield Violation(
            (),
            f"Helm owns this ConfigMap, and Koordinator's chart{' ' + version if version else ''} differs in "
            f"{', '.join(changed)}: the next helm upgrade reverts that",
            "make the change after rendering: set delivery: post-render, and run policykit gen",
        )


def _changed(data: Mapping[str, Any], original: Mapping[str, Any]) -> tuple[str, ...]:
    """Plugins that the original does not enable, or gives other args or another weight, sorted."""
    found: set[str] = set()
    originals = _settings(original)
    for name, settings in _settings(data).items():
        theirs = originals.get(name)
        if theirs is None:
            found.add(f"profile {name}")
        else:
            found.update(key[1] for key, value in settings.items() if theirs.get(key) != value)
    return tuple(sorted(found))


def _settings(data: Mapping[str, Any]) -> dict[str, dict[tuple[str, str], object]]:
    """Profile to (point, plugin) with its weight, and ("args", plugin) with its args."""
    found: dict[str, dict[tuple[str, str], object]] = {}
    for profile in read(data).profiles:
        settings: dict[tuple[str, str], object] = {
            ("args", each.plugin): {k: v for k, v in each.fields.items() if k != _MODELS}
            for each in profile.args
        }
        for name, point in profile.points.items():
            weighs = name in ("score", MULTI_POINT)
            settings |= {(name, plugin): weight if weighs else 1 for plugin, weight in point.weights.items()}
        found[profile.name] = settings
    return found


def _is_helms(holder: Manifest) -> bool:
    marks = {**holder.annotations, **holder.labels}
    return any(key in marks and value in ("", marks[key]) for key, value in _HELM_MARKS.items())


RULE = Rule(
    code="PK607",
    name="overwritten-by-chart",
    severity=Severity.WARNING,
    subject=Manifest,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    kinds=frozenset({KIND}),
    needs_policy=True,
)
