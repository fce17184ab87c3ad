"""A queue is guaranteed more than it may use.

A guarantee may not exceed the deserved amount, and neither may exceed the limit. Volcano and
Koordinator refuse such a queue. With KAI-Scheduler, which does not compare them, a quota above the
limit of a queue above is never reached. PK511 and PK610 report amounts that are missing next to
another, and PK701 reports everything in a YuniKorn configuration.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from policykit.linter.rule import Context, Rule, Violation
from policykit.linter.scope import Scope
from policykit.model.declared_queues import DeclaredQueue, QueueSemantics
from policykit.model.quantity import amount_text
from policykit.model.severity import Severity
from policykit.targets.facts.queue_trees import (
    LocatedQueue,
    Tree,
    amounts,
    format_amount,
    queue_semantics,
    trees,
)

BAD = """\
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata:
  name: research
spec:
  weight: 1
  deserved: {cpu: "64", nvidia.com/gpu: "16"}
  capability: {cpu: "128", nvidia.com/gpu: "8"}
"""

GOOD = BAD.replace('nvidia.com/gpu: "16"', 'nvidia.com/gpu: "8"')

_ORDER = ("guarantee", "deserved", "limit")


def check(scope: Scope, context: Context) -> Iterator[Violation]:
    """Each queue by itself, and only amounts that are set; with limits above it where nothing else does."""
    for queue in scope.of(DeclaredQueue):
        semantics = queue_semantics(queue.value.target_name, context.cluster)
        if not semantics.own_validator and not queue.partial:
            yield from _compared(queue, semantics)
    for tree in trees(scope, context.cluster):
        # Others refuse a limit above the parent's, or a guarantee: PK404 and PK405 report it.
        if tree.semantics.excess_limit is not Severity.ERROR and not tree.semantics.summed:
            for queue in tree.queues if tree.semantics.trees else ():
                yield from _below(queue, tree) if not queue.partial else ()


def _below(queue: LocatedQueue, tree: Tree) -> Iterator[Violation]:
    """Of each resource, the guarantee against the nearest limit above the queue."""
    semantics = tree.semantics
    for resource, least in sorted(queue.value.guarantee.items()):
        above = next((one for one in tree.above(queue) if resource in one.value.limit), None)
        own = queue.value.limit.get(resource, least)
        if above is not None and least > above.value.limit[resource] and own >= least:
            low, name = semantics.field_names["guarantee"], above.value.name
            yield Violation(
                queue.at(f"guarantee.{resource}"),
                f"{low} of {semantics.noun} {queue.value.name} is "
                f"{format_amount(semantics, resource, least)}, but its parent {name} may use only "
                f"{amount_text(resource, above.value.limit[resource])}",
                f"lower it, or raise {semantics.field_names['limit']} of {name}: it is never reached",
                semantics.order,
            )


def _compared(queue: LocatedQueue, semantics: QueueSemantics) -> Iterator[Violation]:
    """Of each resource, the amounts that are set, from the smallest on."""
    stated = {field: amounts(queue.value, field) for field in _ORDER if field in semantics.field_names}
    for resource in sorted({resource for each in stated.values() for resource in each}):
        for smaller, larger in pairwise(field for field in stated if resource in stated[field]):
            least, most = stated[smaller][resource], stated[larger][resource]
            if least > most:
                low, high = semantics.field_names[smaller], semantics.field_names[larger]
                yield Violation(
                    queue.at(f"{smaller}.{resource}"),
                    f"{low} of {semantics.noun} {queue.value.name} is "
                    f"{format_amount(semantics, resource, least)}, "
                    f"but {high} only {amount_text(resource, most)}",
                    f"lower {low}, or raise {high}: {semantics.queue_fault}",
                    semantics.order,
                )


RULE = Rule(
    code="PK406",
    name="guarantee-exceeds-limit",
    severity=Severity.ERROR,
    subject=Scope,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    reports_at=(DeclaredQueue,),
)
