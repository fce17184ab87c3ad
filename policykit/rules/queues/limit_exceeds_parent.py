"""A queue has a higher limit than a queue above it.

It never gets that much: the limit above applies to everything below. Volcano refuses such a queue;
Koordinator accepts it, and the higher limit has no effect. PK701 reports YuniKorn's queues.
"""

from __future__ import annotations

from collections.abc import Iterator

from policykit.linter.rule import Context, Rule, Violation
from policykit.linter.scope import Scope
from policykit.model.declared_queues import DeclaredQueue
from policykit.model.quantity import amount_text
from policykit.model.severity import Severity
from policykit.rules.queues.tree_releases import of_trees
from policykit.targets.facts.queue_trees import LocatedQueue, Tree, format_amount, trees

BAD = """\
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata:
  name: research
spec:
  weight: 1
  capability: {cpu: "64", nvidia.com/gpu: "8"}
---
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata:
  name: vision
spec:
  weight: 1
  parent: research
  capability: {cpu: "32", nvidia.com/gpu: "16"}
"""

GOOD = BAD.replace('nvidia.com/gpu: "16"', 'nvidia.com/gpu: "8"')


def check(scope: Scope, context: Context) -> Iterator[Violation]:
    """Each limit against the nearest one above it."""
    for tree in trees(scope, context.cluster):
        for queue in tree.queues if tree.semantics.trees else ():
            if not queue.partial:
                yield from of_trees(_queue(queue, tree), tree.semantics)


def _queue(queue: LocatedQueue, tree: Tree) -> Iterator[Violation]:
    for resource, amount in sorted(queue.value.limit.items()):
        # To Volcano 0 is no limit, and to Koordinator one that no child can exceed alone.
        above = next((each for each in tree.above(queue) if each.value.limit.get(resource)), None)
        if above is not None and amount > above.value.limit[resource]:
            yield _violation(queue, resource, above, tree)


def _violation(queue: LocatedQueue, resource: str, above: LocatedQueue, tree: Tree) -> Violation:
    semantics, name = tree.semantics, above.value.name
    word, amount = (
        semantics.field_names["limit"],
        format_amount(semantics, resource, queue.value.limit[resource]),
    )
    refused = semantics.excess_limit is Severity.ERROR
    return Violation(
        queue.at(f"limit.{resource}"),
        f"{word} of {semantics.noun} {queue.value.name} is {amount}, but {name} above it "
        f"allows {amount_text(resource, above.value.limit[resource])}",
        f"lower it, or raise {word} of {name}: "
        + (semantics.tree_fault if refused else f"no {semantics.noun} below {name} gets more than that"),
        semantics.excess_limit,
    )


RULE = Rule(
    code="PK405",
    name="limit-exceeds-parent",
    severity=Severity.ERROR,
    subject=Scope,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    reports_at=(DeclaredQueue,),
)
