"""A workload does not prefer the pools that the policy prefers for its kind.

Without preferred terms every allowed pool scores the same, and hybrid pools fill up while
dedicated pools stay empty.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from policykit.kube.affinity import PREFERRED
from policykit.linter.rule import Context, Rule, Violation
from policykit.model.severity import Applicability, Severity
from policykit.model.workload import WorkloadKind
from policykit.placement.landing import Landing
from policykit.placement.review import Review
from policykit.rules.placement.fixes import follows_choice, placement_fix

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
    """Reports a pod if its preferred terms do not rank the accepting pools as the policy does."""
    cluster, workload = review.cluster, review.workload
    if (
        cluster is None
        or workload is None
        or not workload.prefer
        or not review.eligible_pools
        or not review.is_final
    ):
        return
    if not review.card_resources or not cluster.usage_key:
        return
    open_ = [landing for landing in review.open_landings if review.is_eligible(landing.pool)]
    fault = _ranking_problem(workload, open_)
    if fault is not None:
        usage, but = fault
        weight = workload.prefer[usage]
        yield Violation(
            review.pod_set.place("affinity", "nodeAffinity", PREFERRED),
            f"{workload.name} prefers usage {usage} with weight {weight}, but {but}",
            f"prefer {cluster.usage_key} In [{usage}] with weight {weight} in nodeAffinity",
            fix=partial(placement_fix, review),
            follows=follows_choice(review, "PK101", "PK103", "PK104", "PK130"),
        )


def _ranking_problem(workload: WorkloadKind, landings: list[Landing]) -> tuple[str, str] | None:
    """(usage, problem with the score) of the first pool with the wrong rank."""
    weights = [workload.prefer.get(landing.pool.usage, 0) for landing in landings]
    for one, weight in zip(landings, weights, strict=True):
        if weight and weight == max(weights) and one.score <= 0:
            return one.pool.usage, f"no preferred term matches pool {one.pool.name}"
        for other, its in zip(landings, weights, strict=True):
            if weight > its and one.score <= other.score:
                scores = f"pool {one.pool.name} scores {one.score} and pool {other.pool.name} {other.score}"
                return one.pool.usage, f"with its preferred terms {scores}"
    return None


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
