"""Queues are promised more than the queue they stand below.

What is guaranteed or deserved comes out of the parent's share: together the children have at most
what it has, and of a resource that it does not state it has none. Volcano and Koordinator refuse
the queue that goes beyond. Of YuniKorn's tree PK701 speaks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from policykit.linter.rule import Context, Rule
from policykit.linter.scope import Scope, ScopeViolation
from policykit.model.quantity import amount_text
from policykit.model.severity import Severity
from policykit.targets.sharing import Declared, Tree, amounts, place, shown, trees

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


def check(scope: Scope, context: Context) -> Iterator[ScopeViolation]:
    """Trees of objects, of which every file is known."""
    for tree in trees(scope, context.cluster):
        for parent in tree.queues if tree.ways.trees else ():
            bound = parent.value.name not in tree.ways.roots and parent.value.measured and not parent.partial
            children = tree.measured(parent) if bound else ()
            if any(not child.value.unchecked for child in children):
                for field in tree.ways.summed:
                    yield from _field(field, parent, children, tree)


def _field(
    field: str, parent: Declared, children: Sequence[Declared], tree: Tree
) -> Iterator[ScopeViolation]:
    """Children that alone have too much, else all of them together."""
    have = amounts(parent.value, field)
    for resource in sorted({name for child in children for name in amounts(child.value, field)}):
        limit = have.get(resource, 0)
        alone = [c for c in children if amounts(c.value, field).get(resource, 0) > limit]
        yield from (
            _alone(field, resource, child, parent, tree) for child in alone if not child.value.unchecked
        )
        together = _together(field, resource, children)
        if not alone and together > limit:
            yield _sum(field, resource, together, parent, tree)


def _together(field: str, resource: str, children: Sequence[Declared]) -> int:
    """Of a queue that is defined twice the smaller amount counts."""
    least: dict[str, int] = {}
    for child in children:
        name, amount = child.value.name, amounts(child.value, field).get(resource, 0)
        least[name] = min(amount, least.get(name, amount))
    return sum(least.values())


def _alone(field: str, resource: str, child: Declared, parent: Declared, tree: Tree) -> ScopeViolation:
    ways, have = tree.ways, amounts(parent.value, field)
    word, above = ways.words[field], parent.value.name
    amount = shown(ways, resource, amounts(child.value, field)[resource])
    limit = amount_text(resource, have[resource]) if resource in have else "none"
    return ScopeViolation(
        child,
        place(child, f"{field}.{resource}", field),
        f"{word} of {ways.noun} {child.value.name} is {amount}, that of {above} above it {limit}",
        f"lower it, or raise {word} of {above}: {ways.tree_fault}",
    )


def _sum(field: str, resource: str, together: int, parent: Declared, tree: Tree) -> ScopeViolation:
    ways, name = tree.ways, parent.value.name
    word, total = ways.words[field], shown(ways, resource, together)
    own = amount_text(resource, amounts(parent.value, field).get(resource, 0))
    return ScopeViolation(
        parent,
        place(parent, f"{field}.{resource}", field),
        f"{word} of the {ways.noun}s below {name} is {total} together, that of {name} {own}",
        f"raise it, or lower {word} of the {ways.noun}s below: {ways.tree_fault}",
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
)
