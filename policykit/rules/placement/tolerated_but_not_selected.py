"""A pod tolerates the taint of a dedicated pool but does not select the pool.

A toleration permits placement but does not attract the pod. If a pool without the taint also
accepts it, the pod can land there instead.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from policykit.linter.rule import Context, Rule, Violation
from policykit.manifests.memoize import memoize_beside
from policykit.model.cluster import Cluster
from policykit.model.severity import Applicability, Severity
from policykit.placement.policy_labels import dedicated_keys
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
    """Reports the first toleration of a dedicated key that an accepting, ineligible pool lacks.

    A cloud's taint (spot nodes, fallback nodes) marks nodes that a pod may also use.
    """
    cluster = review.cluster
    if cluster is None or review.eligible_pools is None or not review.is_final or review.is_system_pod:
        return
    if review.pod_set.per_node and not review.card_resources:
        return  # a daemon tolerates the taints of the nodes it serves
    dedicated = _dedicated_keys(cluster)
    for position, toleration in enumerate(review.tolerations):
        if toleration.key not in dedicated:
            continue
        for pool in review.accepting:
            if not review.is_eligible(pool) and all(taint.key != toleration.key for taint in pool.taints):
                yield Violation(
                    review.pod_set.place("tolerations", position),
                    f"the pod tolerates {toleration}, but pool {pool.name} without that taint"
                    " also accepts it",
                    "select the intended pools with node affinity: a toleration does not attract pods",
                    fix=partial(placement_fix, review),
                )
                return


@memoize_beside
def _dedicated_keys(cluster: Cluster) -> frozenset[str]:
    """Those of all pools."""
    return frozenset[str]().union(*(dedicated_keys(cluster, pool) for pool in cluster.pools))


RULE = Rule(
    code="PK111",
    name="tolerated-but-not-selected",
    severity=Severity.WARNING,
    subject=Review,
    doc=__doc__ or "",
    bad=BAD,
    good=GOOD,
    check=check,
    needs_policy=True,
    fix=Applicability.SAFE,
)
