"""No pool of the policy accepts a pod, for reasons that differ between pools.

No single line is the mistake: read the reason of each pool and decide which one to remove.
"""

from __future__ import annotations

from collections.abc import Iterator

from policykit.linter.rule import Context, Rule, Violation
from policykit.model.cluster import Cluster
from policykit.model.severity import Severity
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
                  - {key: maip.mxsf.io/node.usage, operator: In, values: [training]}
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
              cpu: 500
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
    """Reports a pod if every pool refuses it for certain, and not only for its size (PK203)."""
    if review.cluster is None or review.eligible_pools is None or not review.is_final or not review.landings:
        return
    if any(landing.verdict != "refused" for landing in review.landings) or review.selects_unlisted_pool:
        return
    if not review.eligible_pools:
        yield from _no_eligible_pool(review, review.cluster)
    elif any(
        landing.reason != "resources" for landing in review.landings if review.is_eligible(landing.pool)
    ):
        yield Violation(review.pod_set.path, f"{_every(review)} refuses the pod", _reasons(review))


def _no_eligible_pool(review: Review, cluster: Cluster) -> Iterator[Violation]:
    """A pod without cards is not reported if the policy may not list every pool."""
    if not review.card_resources and not cluster.complete:
        return
    offering = f" that offers {', '.join(review.card_resources)}" if review.card_resources else ""
    allowed = f" and that {review.workload.name} may use" if review.workload and offering else ""
    yield Violation(
        review.pod_set.path,
        f"{_every(review)} refuses the pod, and the policy has no pool{offering}{allowed}"
        if offering
        else f"{_every(review)} refuses the pod, and the policy has no pool for pods without cards",
        "\n".join((_reasons(review), *_offer(review))),
        None if cluster.complete else Severity.WARNING,
    )


def _offer(review: Review) -> Iterator[str]:
    if review.card_resources:
        resources = " and ".join(review.card_resources)
        yield f"if the nodes of a pool have {resources}, add it to the pool's allocatable"


def _every(review: Review) -> str:
    pools = len(review.landings)
    return f"each of the {pools} pools" if pools > 1 else f"pool {review.landings[0].pool.name}"


def _reasons(review: Review) -> str:
    return "\n".join(f"{landing.pool.name}: {landing.detail}" for landing in review.landings)


RULE = Rule(
    code="PK102",
    name="no-feasible-pool",
    severity=Severity.ERROR,
    subject=Review,
    doc=__doc__ or "",
    bad=BAD,
    good=GOOD,
    check=check,
    needs_policy=True,
    changed_at_admission=True,
    only_alone=True,
)
