"""A workload does not select its usages, and a pool of another usage accepts it.

Tolerations permit placement but do not restrict it. If the pod tolerates every taint of a pool of
another usage, it can land there.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from policykit.linter.rule import Context, Rule, Violation
from policykit.model.severity import Applicability, Severity
from policykit.placement.eligible_pools import uses_no_card
from policykit.placement.label_values import REQUIRED_TERMS
from policykit.placement.review import Review
from policykit.rules.placement.fixes import card_choice, follows_choice, placement_fix

BAD = """\
apiVersion: batch/v1
kind: Job
metadata:
  name: train
spec:
  template:
    metadata:
      labels:
        policykit.io/workload: training
    spec:
      restartPolicy: Never
      affinity:
        nodeAffinity:
          preferredDuringSchedulingIgnoredDuringExecution:
            - weight: 100
              preference:
                matchExpressions:
                  - {key: maip.mxsf.io/node.usage, operator: In, values: [training]}
      tolerations:
        - {key: maip.mxsf.io/node.usage, operator: Equal, value: training, effect: NoSchedule}
        - {key: nvidia.com/gpu.product, operator: Equal, value: NVIDIA-H20, effect: NoSchedule}
      containers:
        - name: main
          image: registry.example/train:1
          resources:
            limits:
              nvidia.com/gpu: 1
"""

GOOD = """\
apiVersion: batch/v1
kind: Job
metadata:
  name: train
spec:
  template:
    metadata:
      labels:
        policykit.io/workload: training
    spec:
      restartPolicy: Never
      affinity:
        nodeAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
            nodeSelectorTerms:
              - matchExpressions:
                  - {key: maip.mxsf.io/node.usage, operator: In, values: [training]}
          preferredDuringSchedulingIgnoredDuringExecution:
            - weight: 100
              preference:
                matchExpressions:
                  - {key: maip.mxsf.io/node.usage, operator: In, values: [training]}
      tolerations:
        - {key: maip.mxsf.io/node.usage, operator: Equal, value: training, effect: NoSchedule}
        - {key: nvidia.com/gpu.product, operator: Equal, value: NVIDIA-H20, effect: NoSchedule}
      containers:
        - name: main
          image: registry.example/train:1
          resources:
            limits:
              nvidia.com/gpu: 1
"""


def check(review: Review, context: Context) -> Iterator[Violation]:
    """Reports a pod if it selects no usage and a pool that is not eligible accepts it.

    Helpers without cards are not reported: their pools need no usage. Pods of a kind that uses no card are,
    where a pool has another usage.
    """
    cluster, workload = review.cluster, review.workload
    if cluster is None or workload is None or not review.eligible_pools or not review.is_final:
        return
    if not cluster.usage_key or not workload.usages:
        return
    if not review.card_resources and not uses_no_card(cluster, workload):
        return
    outside = [
        pool.name
        for pool in review.accepting
        if not review.is_eligible(pool) and (review.card_resources or pool.usage)
    ]
    if outside and not _selects(review, cluster.usage_key):
        usages = ", ".join(workload.usages)
        yield Violation(
            review.pod_set.place("affinity", *REQUIRED_TERMS[:2]),
            f"{workload.name} may use only usage {usages}, but selects no usage, and pool"
            f" {outside[0]} accepts it",
            card_choice(review, context.path) or f"require {cluster.usage_key} In [{usages}] in nodeAffinity",
            fix=partial(placement_fix, review),
            follows=follows_choice(review, "PK101", "PK104"),
        )


def _selects(review: Review, key: str) -> bool:
    """Whether the selector or a required term contains the key, with any operator and value."""
    if key in review.affinity.selector:
        return True
    return any(r.key == key for term in review.affinity.required or () for r in term.expressions)


RULE = Rule(
    code="PK103",
    name="missing-usage-affinity",
    severity=Severity.WARNING,
    subject=Review,
    doc=__doc__ or "",
    bad=BAD,
    good=GOOD,
    check=check,
    needs_policy=True,
    fix=Applicability.SAFE,
)
