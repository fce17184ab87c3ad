"""Queues are guaranteed more than the pools of the policy hold.

A guarantee is kept free for its queue. What is promised twice cannot be kept: some queue does not
get what it counts on, and which one depends on who asks first. Counted are the queues directly
below the root, against all nodes of all pools, autoscaled ones at their largest.
"""

from __future__ import annotations

from collections.abc import Iterator

from policykit.linter.rule import Context, Rule
from policykit.linter.scope import Scope, ScopeViolation
from policykit.model.quantity import amount_text
from policykit.model.severity import Severity
from policykit.targets.capacity import held
from policykit.targets.destinations import planned
from policykit.targets.sharing import Declared, Tree, place, trees

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


def check(scope: Scope, context: Context) -> Iterator[ScopeViolation]:
    """Only where the pools are all there is."""
    cluster = context.cluster
    if cluster is None or not cluster.complete:
        return
    there = held(cluster)
    for tree in trees(scope, cluster, configurations=True):
        top = [queue for queue in tree.queues if _counts(queue, tree)]
        decided = planned(tree.system, cluster).queues  # what the policy itself promises is its business
        for resource, most in there.items():
            promised = [queue for queue in top if queue.value.guarantee.get(resource)]
            total = _together(promised, resource)
            if total > most and not all(queue.value.name in decided for queue in promised):
                largest = max(promised, key=lambda queue: queue.value.guarantee[resource])
                yield _violation(largest, resource, total, most, len(promised), tree)


def _counts(queue: Declared, tree: Tree) -> bool:
    value = queue.value
    return value.parent in ("", *tree.ways.roots) and value.measured and not queue.partial


def _together(queues: list[Declared], resource: str) -> int:
    """Of a queue that is defined twice the smaller amount counts."""
    least: dict[str, int] = {}
    for queue in queues:
        name, amount = queue.value.name, queue.value.guarantee[resource]
        least[name] = min(amount, least.get(name, amount))
    return sum(least.values())


def _violation(
    queue: Declared, resource: str, total: int, most: int, queues: int, tree: Tree
) -> ScopeViolation:
    ways = tree.ways
    name, noun, word = ways.names.get(resource, resource), ways.noun, ways.words["guarantee"]
    promised, there = amount_text(resource, total), amount_text(resource, most)
    who = f"{queues} {noun}s below the root have" if queues > 1 else f"{noun} {queue.value.name} has"
    together = " together" if queues > 1 else ""
    return ScopeViolation(
        queue,
        place(queue, f"guarantee.{resource}", "guarantee"),
        f"{who} {word} {name} {promised}{together}, the pools hold {there}",
        f"lower {word}, or say in the policy which further nodes there are",
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
