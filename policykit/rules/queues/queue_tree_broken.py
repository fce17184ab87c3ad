"""A queue stands in no tree: its parent is missing, it goes round in a circle, or is too deep.

Volcano and Koordinator refuse a queue whose parent is not there, or does not fit it.
Where such a tree gets into a cluster all the same, Volcano gives nothing to any queue. Two queues
of one name are one queue: the one that is applied last. A configuration of YuniKorn is a tree by
its form; what is wrong with it is said by PK701.
"""

from __future__ import annotations

from collections.abc import Iterator

from policykit.kube.structure.scalars import is_placeholder
from policykit.linter.rule import Context, Rule
from policykit.linter.scope import Scope, ScopeViolation
from policykit.model.severity import Severity
from policykit.targets import destinations
from policykit.targets.sharing import Declared, trees
from policykit.targets.tree_faults import declarations, places

BAD = """\
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata:
  name: research
spec:
  weight: 1
---
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata:
  name: vision
spec:
  weight: 1
  parent: reserach
"""

GOOD = BAD.replace("reserach", "research")


def check(scope: Scope, context: Context) -> Iterator[ScopeViolation]:
    """Trees of objects, of which every file is known."""
    for tree in trees(scope, context.cluster):
        plan = frozenset(destinations.planned(tree.system, context.cluster).queues)
        yield from declarations(tree)
        if tree.ways.trees:
            yield from places(tree, plan, lambda queue: _is_unclear(queue, scope))


def _is_unclear(queue: Declared, scope: Scope) -> bool:
    parent = queue.value.parent
    return queue.partial or is_placeholder(parent) or scope.may_hold(parent)


RULE = Rule(
    code="PK403",
    name="queue-tree-broken",
    severity=Severity.ERROR,
    subject=Scope,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
)
