"""A rolling update creates fewer new pods than their gang needs.

Volcano makes a gang of each ReplicaSet. A rolling update replaces at most maxSurge plus maxUnavailable pods
at a time, and waits until they run. If the new gang needs more pods than that, they stay pending and the
update hangs.
"""

from __future__ import annotations

from collections.abc import Iterator

from policykit.kube.podsets import gangs, pod_sets
from policykit.kube.rollouts import rolling
from policykit.linter.rule import Context, Rule, Violation
from policykit.manifests.document import Manifest
from policykit.manifests.shape import mapping, whole
from policykit.model.severity import Severity
from policykit.targets import target_name_of, target_of

BAD = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: serve
  annotations:
    scheduling.volcano.sh/group-min-member: "2"
spec:
  replicas: 2
  selector:
    matchLabels: {app: serve}
  template:
    metadata:
      labels: {app: serve}
    spec:
      schedulerName: volcano
      containers:
      - name: main
        image: registry.example/serve:1
"""

GOOD = BAD.replace("  replicas: 2\n", "  replicas: 2\n  strategy: {type: Recreate}\n")


def check(manifest: Manifest, context: Context) -> Iterator[Violation]:
    """Deployments whose scheduler starts gangs. Source: `deployment/rolling.go` (v1.36)."""
    spec = mapping(manifest.data.get("spec"))
    replicas = whole(spec.get("replicas", 1))
    sets = pod_sets(manifest.data)
    if manifest.partial or not replicas or len(sets) != 1:
        return
    target = target_of(target_name_of(sets[0].scheduler_name, context.cluster))
    rollout = rolling(spec, replicas)
    if target is None or not target.supports_gangs or rollout is None:
        return
    for gang in gangs(manifest.data):
        size = gang.min_member
        if not gang.written or not gang.enabled or size is None:
            continue
        at_once = min(rollout.surge + rollout.unavailable, replicas)
        if at_once < size <= replicas:
            yield Violation(
                gang.path,
                f"the gang needs {size} pods, but a rolling update of {replicas} replicas creates only "
                f"{at_once} at a time: it hangs",
                "set strategy.rollingUpdate.maxSurge: 100%, or strategy.type: Recreate",
            )


RULE = Rule(
    code="PK312",
    name="gang-stalls-rollout",
    severity=Severity.WARNING,
    subject=Manifest,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    kinds=frozenset({"Deployment"}),
    substrings=("group-min-member",),
)
