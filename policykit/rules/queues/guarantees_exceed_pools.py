"""Queues are guaranteed more than the pools of the policy have.

A guarantee is reserved for its queue. If the guarantees exceed the hardware, some queue does not get
what it counts on, and which one depends on who asks first. The rule adds up the queues directly
below the root and compares them with all nodes of all pools, autoscaled ones at their maximum.

The quota of a Cohort of Kueue is added to those of its ClusterQueues: it is not what they share out. Where
their quotas are what the pools have, a Cohort with the same quota admits twice as much.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from policykit.linter.rule import Context, Rule, Violation
from policykit.linter.scope import LocatedFact, Scope
from policykit.model.declared_queues import DeclaredQueue
from policykit.model.kueue import DeclaredClusterQueue, DeclaredCohort
from policykit.model.quantity import amount_text
from policykit.model.severity import Severity
from policykit.targets.facts.queue_trees import (
    LocatedQueue,
    Tree,
    first_field,
    format_amount,
    policy_queues,
    total_amount,
    trees,
)
from policykit.targets.pool_capacity import total_capacity

BAD = """\
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata:
  name: research
spec:
  weight: 1
  guarantee:
    resource: {nvidia.com/gpu: "4000"}
  deserved: {nvidia.com/gpu: "4000"}
"""

GOOD = BAD.replace("4000", "8")


def check(scope: Scope, context: Context) -> Iterator[Violation]:
    """Only where the policy lists all pools."""
    cluster = context.cluster
    if cluster is None or not cluster.complete:
        return
    there = total_capacity(cluster)
    for tree in trees(scope, cluster, configurations=True):
        top = [queue for queue in tree.queues if _counts(queue, tree)]
        decided = policy_queues(tree.target_name, cluster).queues  # the policy decides about its own queues
        for resource, most in there.items():
            promised = [queue for queue in top if queue.value.guarantee.get(resource)]
            total = total_amount(promised, "guarantee", resource)
            if total > most and not all(queue.value.name in decided for queue in promised):
                largest = max(promised, key=lambda queue: queue.value.guarantee[resource])
                yield _violation(largest, resource, total, most, len(promised), tree)
    yield from _cohorts(scope, there)


def _cohorts(scope: Scope, there: Mapping[str, int]) -> Iterator[Violation]:
    """Those whose queues are within the pools without the quota of the Cohorts.

    Source: `pkg/cache/scheduler/resource_node.go` of Kueue (0.9 to 0.19).
    """
    cohorts: dict[str, LocatedFact[DeclaredCohort]] = {}
    for each in scope.of(DeclaredCohort):
        cohorts.setdefault(each.value.name, each)
    if not any(each.value.nominal for each in cohorts.values()):
        return
    roots = _roots({each.value.name: each.value.parent for each in cohorts.values()})
    own: dict[str, list[LocatedFact[DeclaredCohort]]] = {}
    for name, each in cohorts.items():
        own.setdefault(roots[name], []).append(each)
    queues: dict[str, dict[str, DeclaredClusterQueue]] = {}
    for queue in scope.of(DeclaredClusterQueue):
        if queue.value.cohort and not queue.partial:
            root = roots.get(queue.value.cohort, queue.value.cohort)
            queues.setdefault(root, {}).setdefault(queue.value.name, queue.value)
    for root, listed in own.items():
        below = queues.get(root)
        if below and not any(each.value.limited or each.partial for each in listed):
            yield from _twice(listed, list(below.values()), there)


def _roots(parents: Mapping[str, str]) -> dict[str, str]:
    """The Cohort above all others, of each; one in a cycle is its own."""
    found: dict[str, str] = {}
    for start in parents:
        way: dict[str, None] = {}
        name = start
        while name not in found and name not in way and parents.get(name):
            way[name] = None
            name = parents[name]
        root = found.get(name, name)
        found.update(dict.fromkeys((*way, start), root))
    return found


def _twice(
    cohorts: Sequence[LocatedFact[DeclaredCohort]],
    queues: Sequence[DeclaredClusterQueue],
    there: Mapping[str, int],
) -> Iterator[Violation]:
    """At the Cohort with the most, of the first resource."""
    for resource, most in there.items():
        shared = sum(each.value.nominal.get(resource, 0) for each in cohorts)
        apart = sum(each.nominal.get(resource, 0) for each in queues)
        limits = [each.most.get(resource) for each in queues if resource in each.covered]
        admitted = shared + apart
        if limits and None not in limits:
            admitted = min(admitted, sum(each or 0 for each in limits))
        if not shared or not limits or apart > most or admitted <= most:
            continue
        largest = max(cohorts, key=lambda each: each.value.nominal.get(resource, 0))
        number = f"{len(queues)} ClusterQueues are" if len(queues) > 1 else "ClusterQueue are"
        yield Violation(
            largest.at("quota"),
            f"the quotas of Cohort {largest.value.name} and its {number} {amount_text(resource, admitted)} "
            f"{resource} together, but the pools have {amount_text(resource, most)}: the quota of a Cohort "
            "is added to those of its queues",
            "remove the quota of the Cohort, or that of its queues, or add the missing nodes to the policy",
        )
        return


def _counts(queue: LocatedQueue, tree: Tree) -> bool:
    value = queue.value
    return value.parent in ("", *tree.semantics.roots) and value.measured and not queue.partial


def _violation(
    queue: LocatedQueue, resource: str, total: int, most: int, queues: int, tree: Tree
) -> Violation:
    semantics = tree.semantics
    noun, word = semantics.noun, semantics.field_names["guarantee"]
    who = f"the {queues} {noun}s below the root" if queues > 1 else f"{noun} {queue.value.name}"
    in_total = " in total" if queues > 1 else ""
    return Violation(
        queue.at(first_field(queue, f"guarantee.{resource}", "guarantee")),
        f"{word} of {who} is {format_amount(semantics, resource, total)}{in_total}, "
        f"but the pools have {amount_text(resource, most)}",
        f"lower {word}, or add the missing nodes to the policy",
    )


RULE = Rule(
    code="PK407",
    name="guarantees-exceed-pools",
    severity=Severity.WARNING,
    subject=Scope,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    reports_at=(DeclaredCohort, DeclaredQueue),
    needs_policy=True,
)
