"""A pod does not tolerate the taints of any of its eligible pools.

A hard taint repels every pod that does not tolerate its key, value and effect. If every eligible
pool has such a taint, the pod stays pending.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from policykit.catalogue import labels
from policykit.kube.tolerations import to_dict, tolerates
from policykit.linter.rule import Context, Rule, Violation
from policykit.manifests.writer import scalar
from policykit.model.pool import Pool, Taint, Toleration
from policykit.model.severity import Applicability, Severity
from policykit.placement.landing import selections, untolerated_by_pool
from policykit.placement.recognition import HOW_TO_STATE
from policykit.placement.review import Review
from policykit.rules.placement.fixes import card_choice, placement_fix

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
          preferredDuringSchedulingIgnoredDuringExecution:
            - weight: 100
              preference:
                matchExpressions:
                  - key: maip.mxsf.io/node.usage
                    operator: In
                    values: [training]
      tolerations:
        - key: maip.mxsf.io/node.usage
          operator: Equal
          value: training
          effect: NoSchedule
        - key: maip.mxsf.io/node.usage
          operator: Equal
          value: hybrid
          effect: NoSchedule
        - key: nvidia.com/gpu.product
          operator: Equal
          value: NVIDIA-H20
          effect: NoSchedule
      schedulerName: volcano
      containers:
        - name: main
          image: registry.example/train:1
          resources:
            limits:
              nvidia.com/gpu: 1
"""


def check(review: Review, context: Context) -> Iterator[Violation]:
    """Reports a pod if every eligible pool has a hard taint it does not tolerate.

    A pod without cards that another pool accepts is not reported, nor is a pod that selects other
    pools and lands there.
    """
    cluster = review.cluster
    if cluster is None or not review.eligible_pools or not review.is_final or review.selects_unlisted_pool:
        return
    if not review.card_resources and any(landing.verdict != "refused" for landing in review.landings):
        return
    untolerated = untolerated_by_pool(cluster, review.tolerations, review.requests)
    lacking = {pool.name: untolerated[pool.name] for pool in review.eligible_pools}
    if not all(lacking.values()) or _selects_others(review):
        return
    pool = _first_choice(review)
    taints = lacking[pool.name]
    more = f" and {len(taints) - 1} more" if len(taints) > 1 else ""
    yield Violation(
        review.pod_set.place("tolerations"),
        f"the pod does not tolerate taint {taints[0]}{more} of pool {pool.name}"
        + (f", nor the taints of {_others(review, pool)}" if len(review.eligible_pools) > 1 else ""),
        card_choice(review, context.path) or "\n".join(_advice(review, taints)),
        fix=partial(placement_fix, review),
    )


def _selects_others(review: Review) -> bool:
    """Whether it selects ineligible pools that accept it: wrong-usage reports that."""
    cluster = review.cluster
    if cluster is None or not review.accepting or not review.selects_nodes:
        return False
    selected = selections(cluster, review.affinity)
    return all(selected[pool.name] is False for pool in review.eligible_pools or ())


def _first_choice(review: Review) -> Pool:
    """The eligible pool that the workload kind prefers most."""
    prefer = review.workload.prefer if review.workload else {}
    return max(review.eligible_pools or (), key=lambda pool: prefer.get(pool.usage, 0))


def _others(review: Review, named: Pool) -> str:
    return ", ".join(pool.name for pool in review.eligible_pools or () if pool is not named)


def _advice(review: Review, taints: tuple[Taint, ...]) -> Iterator[str]:
    if review.lacks_workload_kind and len({pool.usage for pool in review.eligible_pools or ()}) > 1:
        # Which of the taints to tolerate depends on what the pods are.
        yield f"{HOW_TO_STATE}: `policykit patch` then adds what its pools need"
        return
    yield "add to tolerations:"
    for taint in taints:
        toleration = Toleration(taint.key, "Equal" if taint.value else "Exists", taint.value, taint.effect)
        fields = ", ".join(f"{k}: {scalar(v)}" for k, v in to_dict(toleration).items())
        yield f"- {{{fields}}}"
    yield from _similar_keys(review, taints)
    yield from _unmatched_tolerations(review, taints)
    yield from _undeclared_label(review)


def _undeclared_label(review: Review) -> Iterator[str]:
    """A label of a cloud or of other cards in its selection: the pod may be intended for other nodes."""
    terms = review.affinity.required or ()
    for key in (
        *review.affinity.selector,
        *(expression.key for term in terms for expression in term.expressions),
    ):
        declared = review.cluster is not None and key in review.cluster.declared_keys
        if not declared and (labels.provider(key) or labels.discovery(key)):
            yield f"it also selects nodes by {key}, which no pool declares"
            return


def _unmatched_tolerations(review: Review, taints: tuple[Taint, ...]) -> Iterator[str]:
    """Tolerations of these keys that match no taint: probably mistakes in the missing ones."""
    everywhere = [taint for pool in review.cluster.pools for taint in pool.taints] if review.cluster else []
    keys = {taint.key for taint in taints}
    for toleration in review.tolerations:
        if toleration.key in keys and not any(tolerates(toleration, taint) for taint in everywhere):
            yield f"it tolerates {toleration}, but no pool has that taint"


def _similar_keys(review: Review, taints: tuple[Taint, ...]) -> Iterator[str]:
    """Tolerations of the resource name, where the key of the taint is a label of the card."""
    for taint in taints:
        for toleration in review.tolerations:
            if toleration.key and taint.key.startswith(f"{toleration.key}."):
                yield f"it tolerates {toleration.key}, but the key of the taint is {taint.key}"


RULE = Rule(
    code="PK101",
    name="missing-toleration",
    severity=Severity.ERROR,
    subject=Review,
    doc=__doc__ or "",
    bad=BAD,
    good=GOOD,
    check=check,
    needs_policy=True,
    changed_at_admission=True,
    fix=Applicability.SAFE,
    silences=frozenset({"PK110", "PK203"}),
)
