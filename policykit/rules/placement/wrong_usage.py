"""A workload that can land on a pool whose usage the policy does not allow it.

Inference pods on training nodes take the cards a training job waits for: the usages are there to
keep them apart.
"""

from __future__ import annotations

from collections.abc import Iterator

from policykit.linter.rule import Context, Rule, Violation
from policykit.manifests.path import Path
from policykit.model.pool import Pool
from policykit.model.severity import Applicability, Severity
from policykit.model.workload import WorkloadKind
from policykit.placement.review import Review
from policykit.placement.stated import REQUIRED, stated

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
    if cluster is None or workload is None or not workload.usages:
        return
    wrong = [pool for pool in review.accepting if _wrong(review, workload, cluster.usage_key, pool)]
    if not wrong:
        return
    usages = ", ".join(dict.fromkeys(pool.usage for pool in wrong))
    yield Violation(
        _path(review, cluster.usage_key, {pool.usage for pool in wrong}),
        f"{workload.name} may use {', '.join(workload.usages)}, but pool {wrong[0].name} of usage"
        f" {wrong[0].usage} accepts it",
        f"keep it off usage {usages} in its affinity and tolerations, or allow that to {workload.name}"
        " in the policy",
    )


def _wrong(review: Review, workload: WorkloadKind, key: str, pool: Pool) -> bool:
    """A usage that is not allowed. A helper without cards is blamed only for one that it names."""
    if not pool.usage or pool.usage in workload.usages or pool in (review.meant or ()):
        return False
    return bool(review.card_resources) or any(place.value == pool.usage for place in stated(review, key))


def _path(review: Review, key: str, usages: set[str]) -> Path:
    """Where one of these usages is selected, else tolerated, else where the selection would stand."""
    for place in stated(review, key):
        if place.selects and place.value in usages:
            return place.path
    for position, toleration in enumerate(review.tolerations):
        if toleration.key == key and (toleration.operator == "Exists" or toleration.value in usages):
            return review.pod_set.place("tolerations", position)
    return review.pod_set.place("affinity", *REQUIRED[:2])


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
