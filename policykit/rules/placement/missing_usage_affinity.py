"""A workload that does not say which usages it wants, on a cluster where that matters.

Tolerations only permit. Where a pool of another usage has no taint the pod does not tolerate,
nothing keeps the pod from landing there.
"""

from __future__ import annotations

from collections.abc import Iterator

from policykit.linter.rule import Context, Rule, Violation
from policykit.model.severity import Applicability, Severity
from policykit.placement.review import Review

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
      schedulerName: volcano
      affinity:
        nodeAffinity:
          preferredDuringSchedulingIgnoredDuringExecution:
            - weight: 100
              preference:
                matchExpressions:
                  - {key: maip.mxsf.io/node.usage, operator: In, values: [training]}
      tolerations:
        - {key: maip.mxsf.io/node.usage, operator: Equal, value: training, effect: NoSchedule}
        - {key: maip.mxsf.io/node.usage, operator: Equal, value: hybrid, effect: NoSchedule}
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
      schedulerName: volcano
      affinity:
        nodeAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
            nodeSelectorTerms:
              - matchExpressions:
                  - {key: maip.mxsf.io/node.usage, operator: In, values: [training, hybrid]}
          preferredDuringSchedulingIgnoredDuringExecution:
            - weight: 100
              preference:
                matchExpressions:
                  - {key: maip.mxsf.io/node.usage, operator: In, values: [training]}
      tolerations:
        - {key: maip.mxsf.io/node.usage, operator: Equal, value: training, effect: NoSchedule}
        - {key: maip.mxsf.io/node.usage, operator: Equal, value: hybrid, effect: NoSchedule}
        - {key: nvidia.com/gpu.product, operator: Equal, value: NVIDIA-H20, effect: NoSchedule}
      containers:
        - name: main
          image: registry.example/train:1
          resources:
            limits:
              nvidia.com/gpu: 1
"""


def check(review: Review, context: Context) -> Iterator[Violation]:
    """Speaks when nothing selects a usage and a pool outside M accepts the pod."""
    cluster, workload = review.cluster, review.workload
    if cluster is None or workload is None or not review.meant or not review.judged:
        return
    if not cluster.usage_key or not workload.usages or _selects(review, cluster.usage_key):
        return
    outside = [pool.name for pool in review.accepting if pool not in review.meant]
    if outside:
        yield Violation(
            review.pod_set.place("affinity"),
            f"{workload.name} may use {', '.join(workload.usages)}, but nothing selects a usage"
            f" and pool {outside[0]} accepts it",
            f"require {cluster.usage_key} In [{', '.join(workload.usages)}] in nodeAffinity",
        )


def _selects(review: Review, key: str) -> bool:
    """Whether a selector or a required term speaks of the key, whatever it says."""
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
