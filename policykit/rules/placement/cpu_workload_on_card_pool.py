"""Only card pools accept a pod that requests no card.

It uses CPU and memory that the pods with cards on the same nodes need.
"""

from __future__ import annotations

from collections.abc import Iterator

from policykit.linter.rule import Context, Rule, Violation
from policykit.model.severity import Severity
from policykit.placement.eligible_pools import uses_no_card
from policykit.placement.review import Review

BAD = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  selector:
    matchLabels: {app: web}
  template:
    metadata:
      labels: {app: web, policykit.io/workload: web}
    spec:
      containers:
        - name: main
          image: registry.example/web:1
"""

GOOD = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  selector:
    matchLabels: {app: web}
  template:
    metadata:
      labels: {app: web, policykit.io/workload: web}
    spec:
      nodeSelector:
        example.com/pool: web
      tolerations:
        - {key: example.com/pool, operator: Equal, value: web, effect: NoSchedule}
      containers:
        - name: main
          image: registry.example/web:1
"""


def check(review: Review, context: Context) -> Iterator[Violation]:
    """Reports workload kinds without cards, but not launchers and other helpers of kinds with cards."""
    cluster, workload = review.cluster, review.workload
    if cluster is None or workload is None or review.eligible_pools is None or review.card_resources:
        return
    if review.is_system_pod or review.pod_set.per_node or not review.is_final:
        return
    if not uses_no_card(cluster, workload):
        return
    if not cluster.complete and all(pool.card for pool in cluster.pools):
        return  # pools without cards exist, but the policy describes none
    accepting = review.accepting
    if any(pool.unschedulable for pool in review.eligible_pools):
        return  # the pod lands there once the nodes are uncordoned
    if accepting and all(pool.card and not review.is_eligible(pool) for pool in accepting):
        names = ", ".join(pool.name for pool in accepting)
        yield Violation(
            review.pod_set.path,
            f"the pod requests no card, but only card pools accept it: {names}",
            "\n".join(_advice(review)),
            Severity.ERROR if workload.cards == () else None,
        )


def _advice(review: Review) -> Iterator[str]:
    yield "make a pool without cards accept it, or list its pools under helpers in the policy:"
    for landing in review.landings:
        if not landing.pool.card:
            yield f"{landing.pool.name}: {landing.detail}"


RULE = Rule(
    code="PK114",
    name="cpu-workload-on-card-pool",
    severity=Severity.WARNING,
    subject=Review,
    doc=__doc__ or "",
    bad=BAD,
    good=GOOD,
    check=check,
    needs_policy=True,
)
