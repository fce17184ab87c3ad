"""Pods, their queue and the queue above it are of different node pools of KAI-Scheduler.

With several SchedulingShards each scheduler sees only the nodes, queues and pods that have its value of
the label kai.scheduler/node-pool; the scheduler of a shard without a value sees those without the label. For
pods in a queue of another node pool the queue does not exist, and they stay pending.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from policykit.kube.placeholders import is_placeholder
from policykit.linter.rule import Context, Rule, Violation
from policykit.linter.scope import LocatedFact, Scope
from policykit.model.cluster import Cluster
from policykit.model.declared_queues import QueuePartition
from policykit.model.severity import Severity
from policykit.nearest import nearest
from policykit.targets.kai import PARTITION

BAD = """\
apiVersion: scheduling.run.ai/v2
kind: Queue
metadata:
  name: research
  labels: {kai.scheduler/node-pool: gpu}
spec:
  resources:
    gpu: {quota: 8, limit: -1}
    cpu: {quota: -1, limit: -1}
    memory: {quota: -1, limit: -1}
---
apiVersion: v1
kind: Pod
metadata:
  name: train
  labels: {kai.scheduler/queue: research}
spec:
  schedulerName: kai-scheduler
  containers:
  - name: main
    image: registry.example/train:1
    resources:
      requests: {cpu: 2, memory: 8Gi}
"""

GOOD = BAD.replace(
    "{kai.scheduler/queue: research}", "{kai.scheduler/queue: research, kai.scheduler/node-pool: gpu}"
)

_Located = LocatedFact[QueuePartition]


def check(scope: Scope, context: Context) -> Iterator[Violation]:
    """Source: `data_lister.New` with the selector of the node pool (0.6 to 0.20)."""
    found = [each for each in scope.of(QueuePartition) if not each.partial]
    if not any(each.value.partition for each in found):
        return
    declared: dict[str, list[_Located]] = {}
    for each in found:
        if each.value.kind == "queue":
            declared.setdefault(each.value.queue, []).append(each)
    queues = {name: each[0].value for name, each in declared.items() if len(each) == 1}
    shards = {each.value.partition for each in found if each.value.kind == "scheduler"}
    for each in found:
        value = each.value
        if is_placeholder(value.partition):
            continue
        if value.kind == "scheduler":
            yield from _without_nodes(each, context.cluster)
            continue
        yield from _other(each, queues)
        if value.kind == "queue" and scope.complete and len(shards) > 1 and value.partition not in shards:
            likely = nearest(value.partition, tuple(sorted(shards)))
            yield Violation(
                each.at("partition"),
                f"no SchedulingShard here serves {_named(value.partition)}",
                f"did you mean {likely}?"
                if likely
                else "add a SchedulingShard with that partitionLabelValue",
            )


def _other(each: _Located, queues: Mapping[str, QueuePartition]) -> Iterator[Violation]:
    """The queue that pods name, or the one above a queue."""
    value = each.value
    name = value.parent if value.kind == "queue" else value.queue
    other = queues.get(name)
    if other is None or other.partition == value.partition or is_placeholder(other.partition):
        return
    what = f"queue {value.queue} has" if value.kind == "queue" else "the pods have"
    which = "its parent queue" if value.kind == "queue" else "queue"
    wanted = f"{PARTITION}: {other.partition}" if other.partition else f"no {PARTITION}"
    yield Violation(
        each.at("partition"),
        f"{what} {_named(value.partition)}, but {which} {name} has {_named(other.partition)}: no scheduler "
        "sees both",
        f"give both the same label: {wanted}",
    )


def _without_nodes(shard: _Located, cluster: Cluster | None) -> Iterator[Violation]:
    if cluster is None or not cluster.complete or not shard.value.partition:
        return
    there = {
        value
        for pool in cluster.pools
        for labels in (pool.labels, *(shape.labels for shape in pool.shapes))
        if (value := labels.get(PARTITION))
    }
    if shard.value.partition not in there:
        likely = nearest(shard.value.partition, tuple(sorted(there)))
        yield Violation(
            shard.at("partition"),
            f"no pool has the label {PARTITION}: {shard.value.partition}, so the shard has no nodes",
            f"did you mean {likely}?"
            if likely
            else "give the nodes the label, and the pool in the policy too",
        )


def _named(partition: str) -> str:
    return f"node pool {partition}" if partition else "no node pool"


RULE = Rule(
    code="PK415",
    name="kai-node-pool",
    severity=Severity.WARNING,
    subject=Scope,
    doc=__doc__ or "",
    bad=BAD,
    good=GOOD,
    check=check,
    reports_at=(QueuePartition,),
)
