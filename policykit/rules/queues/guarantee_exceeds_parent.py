"""Queues are guaranteed more than their parent queue.

What is guaranteed or deserved comes out of the parent's share: in total the children have at most
what the parent has, and it has none of a resource that it does not set. Volcano and Koordinator
refuse the queue that exceeds it. KAI-Scheduler takes it, but where the children's quotas exceed the
parent's limit they cannot all be kept. PK701 reports YuniKorn's queues.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from policykit.linter.rule import Context, Rule, Violation
from policykit.linter.scope import Scope
from policykit.model.declared_queues import DeclaredQueue
from policykit.model.quantity import amount_text
from policykit.model.severity import Severity
from policykit.rules.queues.tree_releases import of_trees
from policykit.targets.facts.queue_trees import (
    LocatedQueue,
    Tree,
    amounts,
    first_field,
    format_amount,
    total_amount,
    trees,
)

BAD = """\
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata:
  name: research
spec:
  weight: 1
  deserved: {cpu: "64", nvidia.com/gpu: "8"}
---
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata:
  name: vision
spec:
  weight: 1
  parent: research
  deserved: {cpu: "32", nvidia.com/gpu: "6"}
---
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata:
  name: language
spec:
  weight: 1
  parent: research
  deserved: {cpu: "32", nvidia.com/gpu: "4"}
"""

GOOD = BAD.replace('nvidia.com/gpu: "6"', 'nvidia.com/gpu: "4"')


def check(scope: Scope, context: Context) -> Iterator[Violation]:
    """Trees of objects in a complete scope."""
    for tree in trees(scope, context.cluster):
        for parent in tree.queues if tree.semantics.trees else ():
            bound = (
                parent.value.name not in tree.semantics.roots and parent.value.measured and not parent.partial
            )
            children = tree.measured(parent) if bound else ()
            if any(not child.value.unchecked for child in children):
                for field in tree.semantics.summed:
                    yield from of_trees(_field(field, parent, children, tree), tree.semantics)
                if not tree.semantics.summed:
                    yield from _beyond_limit(parent, children, tree)


def _field(
    field: str, parent: LocatedQueue, children: Sequence[LocatedQueue], tree: Tree
) -> Iterator[Violation]:
    """Children that have too much by themselves, or else all of them in total."""
    have = amounts(parent.value, field)
    for resource in sorted({name for child in children for name in amounts(child.value, field)}):
        limit = have.get(resource, 0)
        alone = [c for c in children if amounts(c.value, field).get(resource, 0) > limit]
        yield from (
            _exceeds_alone(field, resource, child, parent, tree)
            for child in alone
            if not child.value.unchecked
        )
        together = total_amount(children, field, resource)
        if not alone and together > limit:
            yield _sum(field, resource, together, parent, tree)


def _beyond_limit(parent: LocatedQueue, children: Sequence[LocatedQueue], tree: Tree) -> Iterator[Violation]:
    """Of a system that adds nothing up: what the children have by right, and the queue may not use."""
    semantics, name = tree.semantics, parent.value.name
    word, bound = semantics.field_names["guarantee"], semantics.field_names["limit"]
    for resource, most in sorted(parent.value.limit.items()):
        together = total_amount(children, "guarantee", resource)
        if together > most and f"limit.{resource}" in parent.fields:
            total = format_amount(semantics, resource, together)
            yield Violation(
                parent.at(f"limit.{resource}"),
                f"{word} of the {semantics.noun}s below {name} is {total} in total, but {bound} of {name} is "
                f"{amount_text(resource, most)}",
                f"raise {bound} of {name}, or lower {word} of the {semantics.noun}s below: they cannot all "
                "have it",
                Severity.WARNING,
            )


def _exceeds_alone(
    field: str, resource: str, child: LocatedQueue, parent: LocatedQueue, tree: Tree
) -> Violation:
    semantics, have = tree.semantics, amounts(parent.value, field)
    word, above = semantics.field_names[field], parent.value.name
    amount = format_amount(semantics, resource, amounts(child.value, field)[resource])
    limit = amount_text(resource, have[resource]) if resource in have else "none"
    return Violation(
        child.at(first_field(child, f"{field}.{resource}", field)),
        f"{word} of {semantics.noun} {child.value.name} is {amount}, but its parent {above} has {limit}",
        f"lower it, or raise {word} of {above}: {semantics.tree_fault}",
    )


def _sum(field: str, resource: str, together: int, parent: LocatedQueue, tree: Tree) -> Violation:
    semantics, name = tree.semantics, parent.value.name
    word, total = semantics.field_names[field], format_amount(semantics, resource, together)
    own = amount_text(resource, amounts(parent.value, field).get(resource, 0))
    return Violation(
        parent.at(first_field(parent, f"{field}.{resource}", field)),
        f"{word} of the {semantics.noun}s below {name} is {total} in total, but {name} has {own}",
        f"raise it, or lower {word} of the {semantics.noun}s below: {semantics.tree_fault}",
    )


RULE = Rule(
    code="PK404",
    name="guarantee-exceeds-parent",
    severity=Severity.ERROR,
    subject=Scope,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    reports_at=(DeclaredQueue,),
)
