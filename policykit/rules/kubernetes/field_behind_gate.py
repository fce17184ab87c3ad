"""A field needs a feature gate that is off in the release of the cluster.

The API server silently drops the field: a sidecar becomes an init container that never ends, a pod whose
resources are set at pod level requests nothing. It refuses some values, such as `minReplicas: 0` of a
HorizontalPodAutoscaler. Which gates a cluster has switched on or off is stated in the policy: `featureGates:
{PodLevelResources: true}`.
"""

from __future__ import annotations

from collections.abc import Iterator

from policykit.kube import podsets
from policykit.linter.rule import Context, Rule, Violation
from policykit.manifests.document import Manifest
from policykit.manifests.path import Path, dotted
from policykit.model.release import Version
from policykit.model.severity import Severity
from policykit.targets.kubernetes import feature_gates
from policykit.targets.kubernetes.feature_gates import GatedField
from policykit.targets.kubernetes.versions import parse

BAD = """\
apiVersion: apps/v1
kind: StatefulSet
metadata:
  name: serve
spec:
  serviceName: serve
  updateStrategy:
    rollingUpdate:
      maxUnavailable: 2
  selector:
    matchLabels: {app: serve}
  template:
    metadata:
      labels: {app: serve}
    spec:
      containers:
      - name: main
        image: registry.example/serve:1
"""

GOOD = BAD.replace("      maxUnavailable: 2\n", "      partition: 0\n")


def check(manifest: Manifest, context: Context) -> Iterator[Violation]:
    """Fields of the object, and of each pod of a built-in kind."""
    cluster = context.cluster
    if cluster is None or not cluster.kubernetes_version:
        return
    version = parse(cluster.kubernetes_version)
    closed = feature_gates.closed(version, cluster.feature_gates)
    own = closed.objects.get((manifest.group, manifest.kind), ())
    for path, field in feature_gates.found(own, manifest.data):
        yield _violation(path, path, field, version)
    for pod_set in podsets.pod_sets(manifest.data):
        for path, field in feature_gates.found(closed.pods, pod_set.spec):
            if pod_set.default_place is not None:
                yield _violation((*pod_set.default_place, *path), path, field, version)


def _violation(place: Path, path: Path, field: GatedField, version: Version) -> Violation:
    gate = field.gate
    release = f"{version.major}.{version.minor}"
    on = f", on since {gate.on.major}.{gate.on.minor}" if gate.on else ""
    what = dotted(path) if field.value is None else f"{dotted(path)} {field.value}"
    if version < gate.since:
        added = f"{gate.since.major}.{gate.since.minor}"
        message = f"the API server of Kubernetes {release} refuses {what}: it was added in {added}{on}"
        return Violation(place, message, "remove it, or upgrade Kubernetes", Severity.ERROR, key=True)
    effect = f"refuses {field.value}" if field.refused else "drops the field"
    return Violation(
        place,
        f"{what} needs the feature gate {gate.name}{on}, which is off in Kubernetes {release}: the "
        f"API server {effect}",
        f"remove it, or switch the gate on and state it in the policy: featureGates: {{{gate.name}: true}}",
        Severity.INFO if gate.own_api else None,
        key=True,
    )


RULE = Rule(
    code="PK808",
    name="field-behind-gate",
    severity=Severity.WARNING,
    subject=Manifest,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    needs_policy=True,
)
