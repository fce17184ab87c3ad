"""A queue may use more than the queue it stands below.

It never gets that much: the limit above holds for everything below. Volcano refuses such a queue;
Koordinator takes it, and the limit means less than it says. Of YuniKorn's tree PK701 speaks.
"""

from __future__ import annotations

from collections.abc import Iterator

from policykit.linter.rule import Context, Rule
from policykit.linter.scope import Scope, ScopeViolation
from policykit.model.quantity import amount_text
from policykit.model.severity import Severity
from policykit.targets.sharing import Declared, Tree, shown, trees

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


def check(scope: Scope, context: Context) -> Iterator[ScopeViolation]:
    """Each limit against the nearest one above it."""
    for tree in trees(scope, context.cluster):
        for queue in tree.queues if tree.ways.trees else ():
            if not queue.partial:
                yield from _queue(queue, tree)


def _queue(queue: Declared, tree: Tree) -> Iterator[ScopeViolation]:
    for resource, amount in sorted(queue.value.limit.items()):
        # An amount of 0 is no limit to Volcano, and one of Koordinator cannot be exceeded by a child alone.
        above = next((each for each in tree.above(queue) if each.value.limit.get(resource)), None)
        if above is not None and amount > above.value.limit[resource]:
            yield _violation(queue, resource, above, tree)


def _violation(queue: Declared, resource: str, above: Declared, tree: Tree) -> ScopeViolation:
    ways, name = tree.ways, above.value.name
    word, amount = ways.words["limit"], shown(ways, resource, queue.value.limit[resource])
    refused = ways.limit_above is Severity.ERROR
    return ScopeViolation(
        queue,
        f"limit.{resource}",
        f"{word} of {ways.noun} {queue.value.name} is {amount}, that of {name} above it "
        f"{amount_text(resource, above.value.limit[resource])}",
        f"lower it, or raise {word} of {name}: "
        + (ways.tree_fault if refused else f"nothing below {name} gets more than it"),
        ways.limit_above,
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
)
