"""Resolves the queue that a pod names: it accepts pods, accepts none, or does not exist."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from policykit.linter.scope import LocatedFact, Scope
from policykit.model.declared_queues import DeclaredQueue, QueuePlacement, QueueUse
from policykit.model.queue_semantics import PolicyQueues, QueueSemantics
from policykit.namedtuple import NamedTuple
from policykit.targets import target_of
from policykit.targets.queue_trees import LocatedQueue, queue_semantics

if TYPE_CHECKING:
    from policykit.model.cluster import Cluster

FOUND, HOLDS, CLOSED, UNREAD, ELSEWHERE, NOWHERE = range(6)
"""The queue accepts the pods; it contains queues; it accepts nothing; no rule reads the name; it does
not exist, but other rules place the pods; it does not exist."""


class Destination(NamedTuple):
    """The result of resolving a queue name."""

    verdict: int
    queue: str
    """The queue as the system knows it."""
    known: tuple[str, ...]
    """Queues that accept pods."""
    elsewhere: bool = False
    """If the queue does not accept the pods, another rule places them."""


class Tree(NamedTuple):
    """The queues of one configuration, by whether they accept pods."""

    placing: QueuePlacement | None
    names: frozenset[str]
    holding: frozenset[str]
    """Queues with children."""
    closed: frozenset[str]
    takers: tuple[str, ...]
    """Queues that accept pods, sorted."""


class Directory(NamedTuple):
    """The queues of one target in a scope and its policy."""

    semantics: QueueSemantics
    declared: tuple[LocatedQueue, ...]
    placings: tuple[QueuePlacement, ...]
    policy: PolicyQueues
    complete: bool
    trees: tuple[Tree, ...] = ()
    """One for each configuration. Targets whose queues are objects have one, without rules."""

    @property
    def proves_absence(self) -> bool:
        """Whether a queue that is not listed does not exist."""
        declared = any(not each.value.noun for each in self.declared)
        return self.complete and bool(self.policy.queues.keys() - self.semantics.built_in or declared)


def directory(target_name: str, scope: Scope, cluster: Cluster | None) -> Directory:
    """Queues from the scope's documents and, if it has the target, from the policy."""
    declared = tuple(each for each in scope.of(DeclaredQueue) if each.value.target_name == target_name)
    placings = tuple(each.value for each in scope.of(QueuePlacement) if each.value.target_name == target_name)
    own = policy_queues(target_name, cluster)
    known = Directory(queue_semantics(target_name, cluster), declared, placings, own, scope.complete)
    there: list[QueuePlacement | None] = [*placings, *([own.placing] if own.placing else [])]
    return known._replace(trees=tuple(_tree(known, placing) for placing in there or [None]))


def policy_queues(target_name: str, cluster: Cluster | None) -> PolicyQueues:
    """The policy's queues as the target knows them; none if the policy does not have the target."""
    target = target_of(target_name)
    if cluster is None or not cluster.queues or target_name not in cluster.targets:
        return PolicyQueues()
    return target.queues.of_policy.load()(cluster) if target and target.queues else PolicyQueues()


def destination(use: QueueUse, known: Directory) -> Destination | None:
    """What becomes of pods that use a queue; None: nothing is known about it."""
    found = [each for tree in known.trees if (each := _in_tree(use, known.semantics, tree))]
    return min(found, key=lambda each: each.verdict) if found else None


def takers(known: Directory) -> dict[str, list[str]]:
    """Queue to the leaf queues directly below it."""
    parents = {**known.policy.queues, **{each.value.name: each.value.parent for each in known.declared}}
    holding = _holding(known.declared, known.semantics) | known.policy.holding
    found: dict[str, list[str]] = {}
    for name, parent in parents.items():
        if name not in holding:
            found.setdefault(parent, []).append(name)
    return found


def _tree(known: Directory, placing: QueuePlacement | None) -> Tree:
    declared = [each for each in known.declared if placing is None or each.value.tree == placing.tree]
    policy = known.policy if placing is None or not placing.tree else PolicyQueues()
    holding = _holding(declared, known.semantics) | policy.holding
    names = {each.value.name for each in declared} | policy.queues.keys()
    closed = {each.value.name for each in declared if each.value.closed}
    above = {each.value.name for each in declared if each.value.closed and each.value.noun}
    closed |= {each.value.name for each in declared if each.value.parent in above}
    return Tree(
        placing,
        frozenset(names),
        frozenset(holding),
        frozenset(closed),
        tuple(sorted(names - holding - known.semantics.roots)),
    )


def _in_tree(use: QueueUse, semantics: QueueSemantics, tree: Tree) -> Destination | None:
    placing = tree.placing
    name = f"{use.namespace}/{use.queue}" if semantics.namespaced else _resolved(use, placing)
    if not name:
        return None
    fallback = placing is not None and (placing.has_other_rules or semantics.fallback in tree.names)
    if placing and not placing.honours_pod_queue:
        verdict = UNREAD
    elif name in semantics.roots or name in tree.holding:
        verdict = HOLDS
    elif name in tree.closed:
        verdict = CLOSED
    elif name in tree.names or name in semantics.built_in or (placing and placing.creates_queues):
        verdict = FOUND
    else:
        verdict = ELSEWHERE if fallback else NOWHERE
    return Destination(verdict, name, tree.takers, fallback)


def _resolved(use: QueueUse, placing: QueuePlacement | None) -> str:
    target = target_of(use.target_name)
    resolve = target.queues.resolve if target and target.queues else None
    return resolve.load()(use.queue, placing) if resolve else use.queue


def _holding(declared: Sequence[LocatedFact[DeclaredQueue]], semantics: QueueSemantics) -> set[str]:
    """Names of queues with children, except those declared in several folders."""
    if not semantics.trees:
        return set()
    parents = {each.value.parent for each in declared}
    folders: dict[str, set[str]] = {}
    for each in declared:
        folders.setdefault(each.value.name, set()).add(each.path.rpartition("/")[0])
    return {
        each.value.name
        for each in declared
        if (each.value.holds_queues or each.value.name in parents) and len(folders[each.value.name]) == 1
    }
