"""A hard spread constraint counts nodes that cannot take the pods.

Every node with the topology label defines a domain, unless the pods' node selector or affinity excludes it:
also one whose taints repel the pods, without `nodeTaintsPolicy: Honor`, and one that lacks the cards that
they request. Such a domain stays at zero pods, so once every other domain has maxSkew pods, the next pod
stays pending. Where the other domains take all replicas anyway, nothing is reported.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from policykit.linter.rule import Context, Fix, Rule, Violation
from policykit.manifests.patch import Patch
from policykit.model.severity import Applicability, Severity
from policykit.placement.placement_patches import is_editable
from policykit.placement.review import Review
from policykit.placement.untolerated_domains import FIELD, over_untolerated

BAD = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: serve
spec:
  replicas: 800
  selector:
    matchLabels: {app: serve}
  template:
    metadata:
      labels: {app: serve, policykit.io/workload: inference}
    spec:
      topologySpreadConstraints:
      - maxSkew: 1
        topologyKey: kubernetes.io/hostname
        whenUnsatisfiable: DoNotSchedule
        labelSelector:
          matchLabels: {app: serve}
      affinity:
        nodeAffinity:
          preferredDuringSchedulingIgnoredDuringExecution:
          - weight: 100
            preference:
              matchExpressions:
              - {key: maip.mxsf.io/node.usage, operator: In, values: [inference]}
      tolerations:
      - {key: maip.mxsf.io/node.usage, operator: Equal, value: inference, effect: NoSchedule}
      - {key: maip.mxsf.io/node.usage, operator: Equal, value: hybrid, effect: NoSchedule}
      - {key: nvidia.com/gpu.product, operator: Equal, value: NVIDIA-H20, effect: NoSchedule}
      containers:
      - name: main
        image: registry.example/serve:1
        resources:
          limits:
            nvidia.com/gpu: 1
"""

GOOD = BAD.replace("DoNotSchedule\n", "DoNotSchedule\n        nodeTaintsPolicy: Honor\n")


def check(review: Review, context: Context) -> Iterator[Violation]:
    """Compares the domains of accepting pools with those of pools that refuse the pods."""
    for spread in over_untolerated(review):
        yield Violation(
            review.pod_set.place(FIELD, spread.number),
            spread.message,
            spread.help,
            fix=partial(_fix, review, spread.number) if spread.of_taint else None,
        )


def _fix(review: Review, at: int) -> Fix | None:
    if not is_editable(review, FIELD):
        return None
    patch = Patch("add", review.pod_set.place(FIELD, at, "nodeTaintsPolicy"), "Honor")
    return Fix("count only nodes with tolerated taints", (patch,), Applicability.SAFE)


RULE = Rule(
    code="PK119",
    name="spread-over-untolerated",
    severity=Severity.WARNING,
    subject=Review,
    doc=__doc__ or "",
    bad=BAD,
    good=GOOD,
    check=check,
    needs_policy=True,
    fix=Applicability.SAFE,
)
