"""A gang requests more than its queue may ever use.

All members are admitted together or not at all. Above the limit of its queue, or of a queue above
that, the gang waits forever, no matter how empty the cluster is.
"""

from __future__ import annotations

from collections.abc import Iterator

from policykit.kube.structure.scalars import is_placeholder
from policykit.linter.rule import Context, Rule, Violation
from policykit.linter.scope import LocatedFact, Scope
from policykit.model.cluster import Cluster
from policykit.model.declared_queues import QueueUse
from policykit.model.gang import TaskGroups
from policykit.model.pool import Amounts
from policykit.model.quantity import amount_text
from policykit.model.severity import Severity
from policykit.namedtuple import NamedTuple
from policykit.targets import destinations, queue_trees
from policykit.targets.destinations import FOUND, Directory

BAD = """\
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata:
  name: research
spec:
  capability:
    nvidia.com/gpu: 16
---
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata:
  name: train
spec:
  queue: research
  minAvailable: 4
  tasks:
  - name: worker
    replicas: 4
    template:
      spec:
        restartPolicy: OnFailure
        containers:
        - name: main
          image: registry.example/train:1
          resources:
            limits:
              nvidia.com/gpu: 8
"""

GOOD = BAD.replace("nvidia.com/gpu: 16", "nvidia.com/gpu: 32")


class _Limit(NamedTuple):
    queue: str
    amounts: Amounts


def check(scope: Scope, context: Context) -> Iterator[Violation]:
    """The least that each gang requests, against every limit from its queue up."""
    known: dict[str, Directory] = {}
    trees = list(queue_trees.trees(scope, context.cluster, configurations=True))
    for use in (*scope.of(QueueUse), *_applications(scope)):
        if (use.value.gang or 0) < 2 or use.partial:
            continue
        target_name = use.value.target_name
        if target_name not in known:
            known[target_name] = destinations.directory(target_name, scope, context.cluster)
        found = destinations.destination(use.value, known[target_name])
        if found is None or found.verdict != FOUND:
            continue
        limits = [
            *_declared(found.queue, target_name, trees),
            *_planned(found.queue, target_name, context.cluster),
        ]
        yield from _above(use, limits)


def _applications(scope: Scope) -> Iterator[LocatedFact[QueueUse]]:
    """Those whose task groups start at once, or not at all."""
    for one in scope.of(TaskGroups):
        value = one.value
        if value.queue and value.pods and not is_placeholder(value.queue):
            use = QueueUse(
                value.target_name, value.namespace, value.queue, gang=value.pods, request=value.request
            )
            yield LocatedFact(use, one.path, one.document, one.resource, one.fields, one.partial)


def _declared(queue: str, target_name: str, trees: list[queue_trees.Tree]) -> Iterator[_Limit]:
    """Limits of queues that documents declare; none if two do, or if they are of two clusters."""
    mine = [tree for tree in trees if tree.target_name == target_name]
    for tree in mine if len(mine) == 1 else ():
        there = tree.named(queue)
        if len(there) != 1 or there[0].partial:
            continue
        for one in (there[0], *tree.above(there[0])):
            if one.value.measured and not one.partial:
                yield _Limit(one.value.name, one.value.limit)


def _planned(queue: str, target_name: str, cluster: Cluster | None) -> Iterator[_Limit]:
    """Limits of the policy's queues, under the system's own names."""
    planned = destinations.policy_queues(target_name, cluster)
    if cluster is None or queue not in planned.queues:
        return
    queues = {each.name: each for each in cluster.queues}
    name, seen = planned.policy_names.get(queue, queue), set[str]()
    while name in queues and name not in seen:
        seen.add(name)
        yield _Limit(name, queues[name].limit)
        name = queues[name].parent


def _above(use: LocatedFact[QueueUse], limits: list[_Limit]) -> Iterator[Violation]:
    """The first resource that exceeds some limit, cards first."""
    asked = use.value.request
    for resource in sorted(asked, key=lambda name: ("/" not in name, name)):
        for limit in limits:
            allowed = limit.amounts.get(resource)
            if allowed is not None and asked[resource] > allowed:
                yield Violation(
                    use.at("queue"),
                    f"the gang of {use.value.gang} pods requests {amount_text(resource, asked[resource])} "
                    f"{resource}, "
                    f"but queue {limit.queue} may use at most {amount_text(resource, allowed)}",
                    "raise the limit of the queue, choose another queue, or make the gang smaller",
                )
                return


RULE = Rule(
    code="PK305",
    name="gang-exceeds-queue",
    severity=Severity.ERROR,
    subject=Scope,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
)
