"""A pod that selects or tolerates card pools, while no container asks for a card.

It runs on a card node without a card of its own: the device plugin gives it none, and on some
runtimes it sees every card unshared. The request was forgotten, or the placement is too much.
"""

from __future__ import annotations

from collections.abc import Iterator

from policykit.catalogue.cards import is_card
from policykit.kube import podsets, requests
from policykit.linter.rule import Context, Rule, Violation
from policykit.model.severity import Applicability, Severity
from policykit.placement.landing import selection, untolerated_taints
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
        - {key: maip.mxsf.io/node.usage, operator: Equal, value: hybrid, effect: NoSchedule}
        - {key: nvidia.com/gpu.product, operator: Equal, value: NVIDIA-H20, effect: NoSchedule}
      containers:
        - name: main
          image: registry.example/train:1
          resources:
            limits:
              cpu: 1
              memory: 1Gi
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
              cpu: 1
              memory: 1Gi
              nvidia.com/gpu: 1
"""


def check(review: Review, context: Context) -> Iterator[Violation]:
    """Speaks once per pod set, at the first container's resources."""
    if review.card_resources or review.pod_set.per_node or review.device_stack or review.manifest.partial:
        return
    spec = review.pod_set.spec
    if spec.get("resourceClaims") or not list(requests.containers(spec)):
        return
    how = _how(review)
    if how and not _helper(review):
        yield Violation(
            review.pod_set.place("containers", 0, "resources"),
            f"{how}, but no container asks for a card",
            f"add {_resources(review)} to the limits of the container that uses it, or take the placement away",
            key=True,
        )


def _how(review: Review) -> str:
    """In which way the pod turns to card pools; empty: it does not."""
    cluster = review.cluster
    if cluster is None:
        return ""
    card_pools = [pool for pool in cluster.pools if pool.card]
    if review.selects_nodes:
        selected = [p for p in cluster.pools if selection(cluster, p, review.affinity) is not False]
        if selected and all(p.card and selection(cluster, p, review.affinity) for p in selected):
            return f"it selects card pools ({', '.join(pool.name for pool in selected)})"
    named = tuple(t for t in review.tolerations if t.key)
    for pool in card_pools:
        if pool.hard_taints and not untolerated_taints(pool, named, review.requests):
            return f"it tolerates the taints of card pool {pool.name}"
    return ""


def _helper(review: Review) -> bool:
    """A launcher, head or driver: other pods of the same object ask for the cards."""
    if review.workload and review.workload.cards == ():
        return False
    return any(
        any(amount > 0 and is_card(name) for name, amount in requests.effective(p.spec, p.devices).items())
        for p in podsets.pod_sets(review.manifest.data)
    )


def _resources(review: Review) -> str:
    cluster = review.cluster
    offered = sorted({r for pool in cluster.pools for r in pool.resources}) if cluster else []
    return " or ".join(f"{resource}: 1" for resource in offered)


RULE = Rule(
    code="PK124",
    name="card-not-requested",
    severity=Severity.WARNING,
    subject=Review,
    doc=__doc__ or "",
    bad=BAD,
    good=GOOD,
    check=check,
    needs_policy=True,
    fix=Applicability.UNSAFE,
    silences=frozenset({"PK101", "PK102", "PK103", "PK111", "PK114", "PK125"}),
)
