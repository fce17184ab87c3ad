"""Queues are guaranteed more than the pools of the policy have.

A guarantee is reserved for its queue. If the guarantees exceed the hardware, some queue does not get
what it counts on, and which one depends on who asks first. The rule adds up the queues directly
below the root and compares them with all nodes of all pools, autoscaled ones at their maximum.
"""

from __future__ import annotations

from collections.abc import Iterator

from policykit.linter.rule import Context, Rule, Violation
from policykit.linter.scope import Scope
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
    needs_policy=True,
)
