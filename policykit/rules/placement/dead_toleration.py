"""A toleration that names a taint key of the cluster and matches none of its taints.

Key, value and effect must all agree with one taint; an operator left out means Equal, and a value
left out means the empty value.
"""

from __future__ import annotations

from collections.abc import Iterator

from policykit.kube.tolerations import tolerates
from policykit.linter.rule import Context, Rule, Violation
from policykit.model.cluster import Cluster
from policykit.model.severity import Applicability, Severity
from policykit.model.taint import Taint, Toleration
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
          preferredDuringSchedulingIgnoredDuringExecution:
            - weight: 100
              preference:
                matchExpressions:
                  - {key: maip.mxsf.io/node.usage, operator: In, values: [training]}
      tolerations:
        - {key: maip.mxsf.io/node.usage, operator: Equal, value: training, effect: NoSchedule}
        - {key: maip.mxsf.io/node.usage, operator: Equal, value: hybrid, effect: NoExecute}
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

_OPERATORS = frozenset({"", "Equal", "Exists"})
"""Others are PK116's."""


def check(review: Review, context: Context) -> Iterator[Violation]:
    """Speaks of near misses of owned taint keys; unknown products are PK106's, other keys nobody's."""
    cluster = review.cluster
    if cluster is None or review.device_stack:
        return
    for position, toleration in enumerate(review.tolerations):
        taints = [taint for taint in _taints(cluster) if taint.key == toleration.key]
        if not taints or any(tolerates(toleration, taint) for taint in taints):
            continue
        if toleration.operator not in _OPERATORS or _is_product(cluster, toleration, taints):
            continue
        if _spare(review, toleration, taints):
            continue
        yield Violation(
            review.pod_set.place("tolerations", position),
            f"this toleration matches no taint of the cluster: {_difference(toleration, taints)}",
            f"the taints of that key are {', '.join(sorted(str(taint) for taint in set(taints)))}",
        )


def _taints(cluster: Cluster) -> list[Taint]:
    control_plane = [cluster.control_plane_taint] if cluster.control_plane_taint else []
    return [taint for pool in cluster.pools for taint in pool.taints] + control_plane


def _is_product(cluster: Cluster, toleration: Toleration, taints: list[Taint]) -> bool:
    """A product that no taint has: PK106's, if no pool has it either."""
    named = toleration.operator != "Exists" and bool(toleration.value)
    of_cards = any(toleration.key == card.product_key for card in cluster.cards.values())
    return named and of_cards and all(taint.value != toleration.value for taint in taints)


def _spare(review: Review, toleration: Toleration, taints: list[Taint]) -> bool:
    """Whether only the effect is another, and other tolerations answer what it would."""
    same = [taint for taint in taints if tolerates(toleration._replace(effect=""), taint)]
    return bool(same) and all(any(tolerates(t, taint) for t in review.tolerations) for taint in same)


def _difference(toleration: Toleration, taints: list[Taint]) -> str:
    if toleration.operator != "Exists" and not toleration.value:
        return "it has neither value nor operator Exists, so it means the empty value"
    if toleration.operator != "Exists" and all(taint.value != toleration.value for taint in taints):
        return f"no taint has value {toleration.value!r}"
    return f"no taint has effect {toleration.effect}"


RULE = Rule(
    code="PK115",
    name="dead-toleration",
    severity=Severity.WARNING,
    subject=Review,
    doc=__doc__ or "",
    bad=BAD,
    good=GOOD,
    check=check,
    needs_policy=True,
    fix=Applicability.UNSAFE,
)
