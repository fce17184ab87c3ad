"""Pods that Kueue admits lack tolerations, and no flavor of their queue adds them.

Kueue adds the tolerations of the flavor that it assigns, so pods that wait for admission may lack
them. Where the flavors of their queue are known and none adds what the pools' taints require, the
pods are admitted, hold quota, and stay pending. Only pools with the labels of a flavor are held
against it; that no pool has them is reported at the flavor. Under partial coverage, a flavor whose
labels no pool declares may be of nodes that the policy does not list. Workloads that an admission check
of MultiKueue sends to other clusters are left out, as are those of checks that are not here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from policykit.kube.affinity import NodeAffinity
from policykit.kube.tolerations import tolerates
from policykit.linter.rule import Context, Rule, Violation
from policykit.linter.scope import LocatedFact, Scope
from policykit.model.kueue import (
    DeclaredAdmissionCheck,
    DeclaredClusterQueue,
    DeclaredFlavor,
    DeclaredLocalQueue,
    RefusedPods,
    RefusingPool,
)
from policykit.model.pool import Taint, Toleration
from policykit.model.severity import Severity
from policykit.placement.landing import selection
from policykit.targets.kueue.names import MULTIKUEUE

BAD = """\
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata:
  name: any
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata:
  name: research
spec:
  namespaceSelector: {}
  resourceGroups:
  - coveredResources: [nvidia.com/gpu]
    flavors:
    - name: any
      resources:
      - name: nvidia.com/gpu
        nominalQuota: 8
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata:
  name: research
  namespace: team-a
spec:
  clusterQueue: research
---
apiVersion: batch/v1
kind: Job
metadata:
  name: train
  namespace: team-a
  labels:
    kueue.x-k8s.io/queue-name: research
spec:
  template:
    spec:
      restartPolicy: Never
      containers:
      - name: main
        image: registry.example/train:1
        resources:
          requests: {cpu: "4", memory: 16Gi}
          limits: {nvidia.com/gpu: 1}
"""

GOOD = BAD.replace(
    "  name: any\n---",
    "  name: any\nspec:\n  tolerations:\n"
    "  - {key: maip.mxsf.io/node.usage, operator: Exists, effect: NoSchedule}\n"
    "  - {key: nvidia.com/gpu.product, operator: Exists, effect: NoSchedule}\n---",
)


def check(scope: Scope, context: Context) -> Iterator[Violation]:
    """Where LocalQueue, ClusterQueue and every flavor of it are known. Source: `flavorassigner.go` (0.19)."""
    queues = {(one.value.namespace, one.value.name): one.value for one in scope.of(DeclaredLocalQueue)}
    above = {one.value.name: one.value for one in scope.of(DeclaredClusterQueue)}
    known = {one.value.name: one.value for one in scope.of(DeclaredFlavor)}
    checks = {one.value.name: one.value.controller for one in scope.of(DeclaredAdmissionCheck)}
    for pods in scope.of(RefusedPods):
        local = queues.get((pods.value.namespace, pods.value.queue))
        cluster_queue = above.get(local.cluster_queue) if local else None
        flavors = _flavors(cluster_queue, known) if cluster_queue else ()
        if (
            not cluster_queue
            or not flavors
            or _may_run_elsewhere(cluster_queue, checks)
            or any(_of_other_nodes(each, context) for each in flavors)
        ):
            continue
        # Each group of resources adds the tolerations of one flavor.
        added = tuple(each for flavor in flavors for each in flavor.tolerations)
        reached = _reached(pods.value, flavors, context)
        left = [_left(pool, added) for pool in reached]
        if left and all(left):
            yield _violation(pods, cluster_queue, flavors, reached[0].name, left[0][0])


def _flavors(queue: DeclaredClusterQueue, known: dict[str, DeclaredFlavor]) -> tuple[DeclaredFlavor, ...]:
    """Those of a queue; none if one of them is not known."""
    if not all(name in known for name in queue.flavors):
        return ()
    return tuple(known[name] for name in dict.fromkeys(queue.flavors))


def _may_run_elsewhere(queue: DeclaredClusterQueue, controllers: Mapping[str, str]) -> bool:
    """Source: `pkg/controller/admissionchecks/multikueue` (0.9 to 0.19)."""
    return any(controllers.get(name, MULTIKUEUE) == MULTIKUEUE for name in queue.checks)


def _of_other_nodes(flavor: DeclaredFlavor, context: Context) -> bool:
    """Whether its nodes may be some that the policy does not list."""
    cluster = context.cluster
    if cluster is None or cluster.complete:
        return False
    return any(key not in cluster.declared_keys for key in flavor.labels)


def _reached(pods: RefusedPods, flavors: tuple[DeclaredFlavor, ...], context: Context) -> list[RefusingPool]:
    """The pools that have the labels of a flavor, which Kueue makes the pods select."""
    cluster = context.cluster
    assert cluster is not None
    selected = [
        NodeAffinity(selector={key: each.labels[key] for key in each.labels.keys() & cluster.declared_keys})
        for each in flavors
    ]
    there = {
        pool.name
        for pool in cluster.pools
        if any(selection(cluster, pool, each) is not False for each in selected)
    }
    return [each for each in pods.pools if each.name in there]


def _left(pool: RefusingPool, added: tuple[Toleration, ...]) -> tuple[Taint, ...]:
    """Taints of a pool that nothing added tolerates."""
    return tuple(taint for taint in pool.taints if not any(tolerates(each, taint) for each in added))


def _violation(
    pods: LocatedFact[RefusedPods],
    queue: DeclaredClusterQueue,
    flavors: tuple[DeclaredFlavor, ...],
    pool: str,
    taint: Taint,
) -> Violation:
    names = ", ".join(flavor.name for flavor in flavors)
    which = f"flavor {names}" if len(flavors) == 1 else f"none of the flavors {names}"
    verb = "does not add the toleration" if len(flavors) == 1 else "adds the toleration"
    return Violation(
        pods.at("tolerations"),
        f"the pod does not tolerate taint {taint} of pool {pool}, and {which} of "
        f"ClusterQueue {queue.name} {verb}",
        "add it to the pod or to spec.tolerations of the flavor: the pods are admitted and stay pending",
    )


RULE = Rule(
    code="PK929",
    name="flavor-without-tolerations",
    severity=Severity.ERROR,
    subject=Scope,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    reports_at=(RefusedPods,),
    needs_policy=True,
)
