"""A pod selects only pools whose taints it does not tolerate.

Affinity attracts and taints repel: a pod needs both the label match and the toleration.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from policykit.linter.rule import Context, Rule, Violation
from policykit.model.severity import Applicability, Severity
from policykit.placement.landing import selections, untolerated_by_pool
from policykit.placement.review import Review
from policykit.rules.placement.fixes import placement_fix

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
                  - {key: maip.mxsf.io/node.usage, operator: In, values: [training]}
      tolerations:
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
    """Reports a pod if every pool that it selects, or may select, has a hard taint it does not tolerate."""
    cluster = review.cluster
    if cluster is None or review.eligible_pools is None or not review.selects_nodes or not review.is_final:
        return
    answers = selections(cluster, review.affinity)
    if not {True, False} & {*answers.values()} or review.selects_unlisted_pool:
        return  # it selects by labels unknown to the policy
    selected = [pool for pool in cluster.pools if answers[pool.name] is not False]
    untolerated = untolerated_by_pool(cluster, review.tolerations, review.requests)
    lacking = {pool.name: untolerated[pool.name] for pool in selected}
    if selected and all(lacking.values()):
        pool = selected[0]
        yield Violation(
            review.pod_set.place("tolerations"),
            f"the pod selects only {', '.join(lacking)}, but does not tolerate"
            f" taint {lacking[pool.name][0]} of pool {pool.name}",
            "tolerate the taints of the selected pools, or select pools whose taints it tolerates",
            fix=partial(placement_fix, review),
        )


RULE = Rule(
    code="PK110",
    name="attracted-but-repelled",
    severity=Severity.WARNING,
    subject=Review,
    doc=__doc__ or "",
    bad=BAD,
    good=GOOD,
    check=check,
    needs_policy=True,
    fix=Applicability.SAFE,
    silences=frozenset({"PK102", "PK203"}),
)
