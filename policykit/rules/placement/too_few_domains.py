"""Required anti-affinity keeps more pods apart than there are domains.

Each replica needs a node, or a zone or rack, without another one. The replicas beyond their number stay
pending. Where there are just enough, a rolling update that may not remove a pod first never ends: its new
pod finds no domain.
"""

from __future__ import annotations

from collections.abc import Iterator

from policykit.kube.rollouts import rolling
from policykit.linter.rule import Context, Rule, Violation
from policykit.manifests.shape import mapping
from policykit.model.severity import Severity
from policykit.placement.review import Review
from policykit.placement.separation import Separation, separations, what

BAD = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: serve
spec:
  replicas: 4000
  selector:
    matchLabels: {app: serve}
  template:
    metadata:
      labels: {app: serve}
    spec:
      nodeSelector: {example.com/pool: web}
      tolerations:
      - {key: example.com/pool, operator: Equal, value: web, effect: NoSchedule}
      affinity:
        podAntiAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
          - topologyKey: kubernetes.io/hostname
            labelSelector:
              matchLabels: {app: serve}
      containers:
      - name: main
        image: registry.example/serve:1
        resources:
          requests: {cpu: 1, memory: 1Gi}
"""

GOOD = BAD.replace("replicas: 4000", "replicas: 2")


def check(review: Review, context: Context) -> Iterator[Violation]:
    """The narrowest term. Source: the InterPodAffinity plugin and `deployment/rolling.go` (v1.36)."""
    found = min(separations(review), key=lambda each: each.domains, default=None)
    if found is None:
        return
    have = f"the pools that take the pods have {found.domains} {what(found.key)}"
    if found.replicas > found.domains:
        yield Violation(
            found.path,
            f"anti-affinity keeps {found.replicas} pods apart, but {have}: "
            f"{found.replicas - found.domains} of them stay pending",
            "run fewer replicas, or prefer to keep them apart: "
            "preferredDuringSchedulingIgnoredDuringExecution",
        )
    elif found.replicas == found.domains and _never_ends(review, found):
        yield Violation(
            found.path,
            f"anti-affinity keeps {found.replicas} pods apart, and {have}: a rolling update, which starts a "
            "new pod before it removes one, never ends",
            "set strategy.rollingUpdate.maxUnavailable: 1",
            Severity.WARNING,
        )


def _never_ends(review: Review, found: Separation) -> bool:
    manifest = review.manifest
    if (manifest.group, manifest.kind) != ("apps", "Deployment"):
        return False
    rollout = rolling(mapping(manifest.data.get("spec")), found.replicas)
    return rollout is not None and rollout.unavailable == 0


RULE = Rule(
    code="PK135",
    name="too-few-domains",
    severity=Severity.ERROR,
    subject=Review,
    doc=__doc__ or "",
    bad=BAD,
    good=GOOD,
    check=check,
    needs_policy=True,
    substrings=("podAntiAffinity",),
)
