"""A workload that can land on a pool whose usage the policy does not allow it.

Inference pods on training nodes take the cards a training job waits for: the usages are there to
keep them apart.
"""

from __future__ import annotations

from collections.abc import Iterator

from policykit.manifests.path import Path
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
                  - {key: maip.mxsf.io/node.usage, operator: In, values: [training, hybrid, inference]}
          preferredDuringSchedulingIgnoredDuringExecution:
            - weight: 100
              preference:
                matchExpressions:
                  - {key: maip.mxsf.io/node.usage, operator: In, values: [training]}
      tolerations:
        - {key: maip.mxsf.io/node.usage, operator: Equal, value: training, effect: NoSchedule}
        - {key: maip.mxsf.io/node.usage, operator: Equal, value: hybrid, effect: NoSchedule}
        - {key: maip.mxsf.io/node.usage, operator: Equal, value: inference, effect: NoSchedule}
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
    """Speaks once per pod set, of the first pool that accepts it and should not."""
    cluster, workload = review.cluster, review.workload
    if cluster is None or workload is None or not workload.usages or review.meant is None:
        return
    wrong = [p for p in review.accepting if p.usage and p.usage not in workload.usages and p not in review.meant]
    if not wrong:
        return
    usages = ", ".join(dict.fromkeys(pool.usage for pool in wrong))
    yield Violation(
        _path(review, cluster.usage_key, wrong[0].usage),
        f"{workload.name} may use {', '.join(workload.usages)}, but pool {wrong[0].name} of usage"
        f" {wrong[0].usage} accepts it",
        f"leave {usages} out of its affinity and tolerations, or allow it to {workload.name} in the policy",
    )


def _path(review: Review, key: str, usage: str) -> Path:
    """The toleration of that usage, else the affinity."""
    for position, toleration in enumerate(review.tolerations):
        if toleration.key == key and toleration.value == usage:
            return review.pod_set.place("tolerations", position)
    return review.pod_set.place("affinity")


RULE = Rule(
    code="PK104",
    name="wrong-usage",
    severity=Severity.ERROR,
    subject=Review,
    doc=__doc__ or "",
    bad=BAD,
    good=GOOD,
    check=check,
    needs_policy=True,
    fix=Applicability.UNSAFE,
)
