"""A queue limits cpu and memory, but not cards.

A limit applies only to the resources it names: in Volcano, YuniKorn and Koordinator alike, a team
with such a queue may take every card of the cluster.
"""

from __future__ import annotations

from collections.abc import Iterator

from policykit.catalogue.resources import is_card
from policykit.linter.rule import Context, Rule, Violation
from policykit.linter.scope import Scope
from policykit.model.declared_queues import DeclaredQueue
from policykit.model.severity import Severity
from policykit.targets.facts.queue_trees import LocatedQueue, Tree, first_field, policy_queues, trees
from policykit.targets.pool_capacity import card_resources

BAD = """\
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata:
  name: research
spec:
  weight: 1
  capability: {cpu: "64", memory: 256Gi}
"""

GOOD = BAD.replace("memory: 256Gi", 'memory: 256Gi, nvidia.com/gpu: "8"')

_COMPUTE = ("cpu", "memory")


def check(scope: Scope, context: Context) -> Iterator[Violation]:
    """The highest queue on each path that has a limit, where nothing on the path names a card.

    Queues of the policy are left out: it decides about them.
    """
    cluster = context.cluster
    cards = sorted({r for pool in cluster.pools for r in card_resources(cluster, pool)}) if cluster else []
    for tree in trees(scope, cluster, configurations=True) if cards else ():
        if "limit" not in tree.semantics.field_names:
            continue  # Kueue admits only resources that its queues name
        decided = policy_queues(tree.target_name, cluster).queues
        for queue in tree.queues:
            if queue.value.name not in decided and _is_open(queue, tree, frozenset(cards)):
                yield _violation(queue, cards, tree)


def _is_open(queue: LocatedQueue, tree: Tree, cards: frozenset[str]) -> bool:
    value = queue.value
    if (
        value.name in tree.semantics.roots
        or queue.partial
        or not value.measured
        or value.confined
        or not _compute(queue)
    ):
        return False
    above = list(tree.above(queue))
    if value.parent not in ("", *tree.semantics.roots) and not above:
        return False
    way = (queue, *above)
    if any(name in cards or is_card(name) for each in way for name in each.value.limit):
        return False
    return not any(_compute(each) or each.value.confined for each in above)


def _compute(queue: LocatedQueue) -> list[str]:
    return [name for name in _COMPUTE if queue.value.limit.get(name)]


def _violation(queue: LocatedQueue, cards: list[str], tree: Tree) -> Violation:
    semantics = tree.semantics
    word, missing = semantics.field_names["limit"], " or ".join(cards)
    limited = " and ".join(semantics.resource_names.get(name, name) for name in _compute(queue))
    return Violation(
        queue.at(first_field(queue, "limit")),
        f"{word} of {semantics.noun} {queue.value.name} limits {limited}, but not {missing}",
        f"add {missing} to {word}; 0 keeps the queue off the cards",
    )


RULE = Rule(
    code="PK409",
    name="missing-card-limit",
    severity=Severity.WARNING,
    subject=Scope,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    reports_at=(DeclaredQueue,),
    needs_policy=True,
)
