"""More replicas than the pools hold, or as many, with an update that adds a pod first.

The replicas beyond the nodes' cards, or beyond their processors and memory, stay pending. Where all are in
use, a rolling update that may not remove a pod before a new one is ready never ends: no node has room for the
new pod.
"""

from __future__ import annotations

from collections.abc import Iterator

from policykit.kube.autoscaling import POD_PER_REPLICA
from policykit.kube.rollouts import adds_first
from policykit.linter.rule import Context, Rule, Violation
from policykit.manifests.path import Path, lookup
from policykit.model.quantity import amount_text
from policykit.model.severity import Severity
from policykit.placement.capacity import member_room
from policykit.placement.review import Review

BAD = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: serve
spec:
  replicas: 4000
  selector:
    matchLabels: {app: serve}
  template:
    metadata:
      labels: {app: serve}
    spec:
      nodeSelector: {maip.mxsf.io/node.usage: inference}
      containers:
      - name: main
        image: registry.example/serve:1
        resources:
          requests: {cpu: 1, memory: 1Gi}
          limits: {nvidia.com/gpu: 1}
"""

GOOD = BAD.replace("replicas: 4000", "replicas: 2")

_REPLICAS: Path = ("spec", "replicas")
_STRATEGY: Path = ("spec", "strategy")


def check(review: Review, context: Context) -> Iterator[Violation]:
    """Against empty pools, of which the policy lists all. Source: `deployment/rolling.go` (v1.36)."""
    cluster, replicas = review.cluster, review.pod_set.replicas
    if not replicas or not review.requests or cluster is None or not cluster.complete:
        return
    kind, owner = review.manifest.kind, review.pod_set.owner
    if kind not in POD_PER_REPLICA or review.pod_set.stored or owner:
        return
    found = member_room(review, bounded=True)
    room = found.room
    if not room or not found.certain:
        return
    asked = found.asked or " and ".join(
        f"{amount_text(name, amount)} {name}" for name, amount in sorted(review.requests.items()) if amount
    )
    those = f"the pools that take the pods ({', '.join(found.pools)}) hold"
    at = _REPLICAS if lookup(review.manifest.data, _REPLICAS) is not None else review.pod_set.path
    if replicas > room:
        yield Violation(
            at,
            f"{replicas} pods of {asked} each, but {those} only {room}",
            f"run {room}, request less per pod, or allow more pools: the others stay pending",
        )
    elif replicas == room and adds_first(review.manifest.data, review.manifest.group, kind, replicas):
        there = lookup(review.manifest.data, _STRATEGY) is not None
        yield Violation(
            _STRATEGY if there else at,
            f"{replicas} pods of {asked} each, and {those} no more: a rolling update, which starts a "
            "new pod before it removes one, never ends",
            "set strategy.rollingUpdate.maxUnavailable: 1",
        )


RULE = Rule(
    code="PK221",
    name="replicas-exceed-pools",
    severity=Severity.WARNING,
    subject=Review,
    doc=__doc__ or "",
    bad=BAD,
    good=GOOD,
    check=check,
    needs_policy=True,
)
