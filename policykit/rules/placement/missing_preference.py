"""A workload that does not prefer the pools the policy prefers for it.

Without the preferred term every allowed pool is as good as another, and the hybrid pools fill up
while the dedicated ones stay empty.
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
          requiredDuringSchedulingIgnoredDuringExecution:
            nodeSelectorTerms:
              - matchExpressions:
                  - {key: maip.mxsf.io/node.usage, operator: In, values: [training, hybrid]}
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
    """Speaks when two accepting pools are not ranked as the policy ranks their usages."""
    cluster, workload = review.cluster, review.workload
    if cluster is None or workload is None or not workload.prefer or not review.meant or not review.judged:
        return
    if not review.card_resources:
        return
    landings = [landing for landing in review.landings if landing.accepts and landing.pool in review.meant]
    for better in landings:
        for worse in landings:
            wanted, other = (workload.prefer.get(x.pool.usage, 0) for x in (better, worse))
            if wanted > other and better.score <= worse.score:
                yield Violation(
                    review.pod_set.place("affinity"),
                    f"{workload.name} prefers usage {better.pool.usage} (weight {wanted}), but pool"
                    f" {better.pool.name} scores {better.score} and pool {worse.pool.name} scores {worse.score}",
                    f"prefer {cluster.usage_key} In [{better.pool.usage}] with weight {wanted} in nodeAffinity",
                )
                return


RULE = Rule(
    code="PK105",
    name="missing-preference",
    severity=Severity.WARNING,
    subject=Review,
    doc=__doc__ or "",
    bad=BAD,
    good=GOOD,
    check=check,
    needs_policy=True,
    fix=Applicability.SAFE,
)
