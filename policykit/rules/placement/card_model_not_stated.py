"""A pod that asks for a card on a cluster with several models of it, and names none.

The resource is the same for every model, so a small job can take the largest cards. Seed design:
whoever creates a job states the card model.
"""

from __future__ import annotations

from collections.abc import Iterator

from policykit.linter.rule import Context, Rule, Violation
from policykit.model.severity import Severity
from policykit.placement.meant import product_of
from policykit.placement.review import Review

BAD = """\
apiVersion: batch/v1
kind: Job
metadata:
  name: train
spec:
  template:
    spec:
      restartPolicy: Never
      tolerations:
        - {key: nvidia.com/gpu.product, operator: Exists, effect: NoSchedule}
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
    """Speaks when the pools that accept it (else those of M) carry several products."""
    cluster = review.cluster
    if cluster is None or not review.meant or review.products or review.device_stack or not review.judged:
        return
    pools = [pool for pool in review.accepting if pool in review.meant] or list(review.meant)
    products = sorted({product for pool in pools if (product := product_of(cluster, pool))})
    if len(products) > 1:
        keys = sorted({card.product_key for card in cluster.cards.values() if card.product_key})
        yield Violation(
            review.pod_set.place("affinity"),
            f"{', '.join(review.card_resources)} is offered by {len(products)} card models and none is stated: "
            + ", ".join(products),
            f"require {' or '.join(keys)} In [...] in nodeAffinity, or tolerate the model's taint",
        )


RULE = Rule(
    code="PK130",
    name="card-model-not-stated",
    severity=Severity.WARNING,
    subject=Review,
    doc=__doc__ or "",
    bad=BAD,
    good=GOOD,
    check=check,
    needs_policy=True,
)
