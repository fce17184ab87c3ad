"""Queue trees that the objects of a scope declare, for any system, and the queue that a pod names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from posixpath import dirname
from typing import TYPE_CHECKING

from policykit.cycles import cycles
from policykit.kube.placeholders import is_placeholder
from policykit.linter.scope import LocatedFact, Scope
from policykit.manifests.memoize import memoize_last
from policykit.model.declared_queues import (
    DeclaredQueue,
    PolicyQueues,
    QueuePlacement,
    QueueSemantics,
    QueueUse,
)
from policykit.model.pool import Amounts
from policykit.model.quantity import amount_text
from policykit.namedtuple import NamedTuple
from policykit.nearest import Names, is_extended
from policykit.targets import target_of

if TYPE_CHECKING:
    from policykit.model.cluster import Cluster

LocatedQueue = LocatedFact[DeclaredQueue]
MAX_DEPTH = 100
"""Most ancestors examined from one queue: no scheduler supports a tree this deep."""


def queue_semantics(target_name: str, cluster: Cluster | None) -> QueueSemantics:
    """How a target treats queues, in the policy's release. Raises KeyError if it has no queues."""
    target = target_of(target_name)
    if target is None or target.queues is None:
        raise KeyError(target_name)
    return target.queues.semantics.load()(cluster)


def format_amount(semantics: QueueSemantics, resource: str, amount: int) -> str:
    """`memory 4Gi`, under the target's own name of the resource."""
    return f"{semantics.resource_names.get(resource, resource)} {amount_text(resource, amount)}"


class Tree:
    """The queues of one target that may form one tree, with their parents.

    Files may declare a queue twice, for example for two clusters: a queue's parent is then the one in
    its own file, else in its folder, else the only one there is. If several remain,
    rules report nothing about them.
    """

    def __init__(self, queues: Sequence[LocatedQueue], semantics: QueueSemantics) -> None:
        """`queues` must not be empty."""
        self.queues = tuple(queues)
        self.target_name = queues[0].value.target_name
        self.semantics = semantics
        self._named: dict[str, list[LocatedQueue]] = {}
        self._whole: dict[tuple[str, ...], list[LocatedQueue]] = {}
        """Complete queues by their keys of `_lookup_keys`."""
        for each in self.queues:
            self._named.setdefault(each.value.name, []).append(each)
            for near in _lookup_keys(each.value.name, each) if not each.partial else ():
                self._whole.setdefault(near, []).append(each)
        self._parents = {id(each): self._nearest(each) for each in self.queues}
        self._children: dict[int, list[LocatedQueue]] = {}
        for each in self.queues:
            parent = self._parents[id(each)]
            if parent is not None:
                self._children.setdefault(id(parent), []).append(each)

    def named(self, name: str) -> Sequence[LocatedQueue]:
        """Every declaration of a name."""
        return self._named.get(name, ())

    def parent(self, queue: LocatedQueue) -> LocatedQueue | None:
        """Its parent; None: none is declared, or it is ambiguous."""
        return self._parents[id(queue)]

    def children(self, queue: LocatedQueue) -> Sequence[LocatedQueue]:
        return self._children.get(id(queue), ())

    def measured(self, queue: LocatedQueue) -> tuple[LocatedQueue, ...]:
        """Its children with readable amounts."""
        return tuple(each for each in self.children(queue) if each.value.measured and not each.partial)

    @cached_property
    def positions(self) -> Mapping[int, int]:
        """Identity of each queue to its index."""
        return {id(queue): number for number, queue in enumerate(self.queues)}

    @cached_property
    def cycles(self) -> Sequence[Sequence[LocatedQueue]]:
        """Cycles of parents, each from its first queue upwards."""
        above = {str(number): self._above(queue) for number, queue in enumerate(self.queues)}
        return [[self.queues[int(number)] for number in cycle] for cycle in cycles(above)]

    @cached_property
    def depths(self) -> Mapping[int, int]:
        """Identity of each queue to the number of ancestors that bind it, without queues below a cycle."""
        found: dict[int, int] = {}
        pending = [queue for queue in self.queues if not self._binding(queue)]
        for queue in pending:
            parent = self._binding(queue)
            found[id(queue)] = found[id(parent)] + 1 if parent else 0
            pending.extend(each for each in self.children(queue) if self._binding(each))
        return found

    def _above(self, queue: LocatedQueue) -> tuple[str, ...]:
        if queue.value.parent == queue.value.name and queue.value.name:
            return (str(self.positions[id(queue)]),)
        parent = self.parent(queue)
        return (str(self.positions[id(parent)]),) if parent else ()

    def _binding(self, queue: LocatedQueue) -> LocatedQueue | None:
        """The parent, unless it is a root: roots bind nothing."""
        parent = self.parent(queue)
        return None if parent is None or parent.value.name in self.semantics.roots else parent

    def above(self, queue: LocatedQueue) -> Iterator[LocatedQueue]:
        """Its ancestors that bind it, nearest first; each once, even if they form a cycle."""
        seen = {id(queue)}
        here = self._binding(queue)
        while here is not None and id(here) not in seen and len(seen) <= MAX_DEPTH:
            seen.add(id(here))
            yield here
            here = self._binding(here)

    def _nearest(self, queue: LocatedQueue) -> LocatedQueue | None:
        if queue.value.parent == queue.value.name:
            return None
        there = next(filter(None, map(self._whole.get, _lookup_keys(queue.value.parent, queue))), ())
        return there[0] if len(there) == 1 else None


def _lookup_keys(name: str, queue: LocatedQueue) -> tuple[tuple[str, ...], ...]:
    """Keys under which a queue's parent is looked up: in its file, in its folder, anywhere."""
    return (name, "file", queue.path), (name, "folder", dirname(queue.path)), (name,)


def trees(scope: Scope, cluster: Cluster | None, *, configurations: bool = False) -> Iterator[Tree]:
    """The trees of a scope; those of objects only if every file of it is known.

    Configurations, which are complete on their own, are included on request: their targets validate them.
    Queues whose names are placeholders are left out.
    """
    groups: dict[tuple[str, str], list[LocatedQueue]] = {}
    for each in scope.of(DeclaredQueue):
        queue = each.value
        if queue.name and not is_placeholder(queue.name) and (queue.tree or scope.complete):
            groups.setdefault((queue.target_name, queue.tree), []).append(each)
    for (target_name, _), queues in groups.items():
        semantics = queue_semantics(target_name, cluster)
        if not semantics.own_validator or configurations:
            yield Tree(queues, semantics)


def amounts(queue: DeclaredQueue, field: str) -> Amounts:
    """guarantee, deserved or limit."""
    found: Amounts = getattr(queue, field)
    return found


def total_amount(queues: Iterable[LocatedQueue], field: str, resource: str) -> int:
    """The sum over queues; if one is defined twice, the smaller amount counts."""
    least: dict[str, int] = {}
    for queue in queues:
        name, amount = queue.value.name, amounts(queue.value, field).get(resource, 0)
        least[name] = min(amount, least.get(name, amount))
    return sum(least.values())


def first_field(queue: LocatedQueue, *fields: str) -> str:
    """The first of these fields that the queue has."""
    return next((field for field in fields if field in queue.fields), "name")


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


class QueueNames(NamedTuple):
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
    policy: PolicyQueues
    complete: bool
    trees: tuple[QueueNames, ...] = ()
    """One for each configuration that tells where pods go. Targets whose queues are objects have one, without
    rules."""
    is_part: bool = False
    """Whether other scopes of the cluster may define queues: what is reported is checked with them."""

    @property
    def proves_absence(self) -> bool:
        """Whether a queue that is not listed does not exist."""
        declared = self.is_part or any(not each.value.noun for each in self.declared)
        return self.complete and bool(self.policy.queues.keys() - self.semantics.built_in or declared)


def directory(target_name: str, scope: Scope, cluster: Cluster | None) -> Directory:
    """Queues from the scope's documents and, if it has the target, from the policy."""
    declared = tuple(each for each in scope.of(DeclaredQueue) if each.value.target_name == target_name)
    placings = tuple(each.value for each in scope.of(QueuePlacement) if each.value.target_name == target_name)
    own = policy_queues(target_name, cluster)
    semantics = queue_semantics(target_name, cluster)
    placings = (*placings, *([own.placing] if own.placing else []))
    of_tree: dict[str, list[LocatedQueue]] = {}
    for each in declared if placings else ():
        of_tree.setdefault(each.value.tree, []).append(each)
    trees = tuple(
        _tree(semantics, of_tree.get(placing.tree, ()), PolicyQueues() if placing.tree else own, placing)
        for placing in placings
    )
    trees = tuple(filter(_answers, trees or (_tree(semantics, declared, own, None),)))
    return Directory(semantics, declared, own, scope.complete, trees, scope.is_part)


def likely(use: QueueUse, found: Destination, known: Directory) -> str:
    """The queue that a name which does not exist may stand for, in the same namespace; empty: none."""
    near = _names(found.known).nearest(found.queue, 0.75) if found.verdict != UNREAD else ""
    return "" if known.semantics.namespaced and near.rpartition("/")[0] != use.namespace else near


def is_misspelt(use: QueueUse, found: Destination, known: Directory) -> bool:
    """Whether a likely queue is the one that is meant: not one whose name only has a part more."""
    near = likely(use, found, known)
    return bool(near) and not is_extended(near.rpartition("/")[2], found.queue.rpartition("/")[2])


_names = memoize_last(Names)


def policy_queues(target_name: str, cluster: Cluster | None) -> PolicyQueues:
    """The policy's queues as the target knows them; none if the policy does not have the target."""
    target = target_of(target_name)
    if cluster is None or not cluster.queues or target_name not in cluster.targets:
        return PolicyQueues()
    return target.queues.of_policy.load()(cluster) if target and target.queues else PolicyQueues()


def destination(use: QueueUse, known: Directory) -> Destination | None:
    """What becomes of pods that use a queue; None: nothing is known about it."""
    best: Destination | None = None
    for tree in known.trees:
        found = _in_tree(use, known.semantics, tree)
        if found and (best is None or found.verdict < best.verdict):
            best = found
            if found.verdict == FOUND:
                break
    return best


def takers(known: Directory) -> dict[str, list[str]]:
    """Queue to the leaf queues directly below it."""
    parents = {**known.policy.queues, **{each.value.name: each.value.parent for each in known.declared}}
    holding = _holding(known.declared, known.semantics) | known.policy.holding
    found: dict[str, list[str]] = {}
    for name, parent in parents.items():
        if name not in holding:
            found.setdefault(parent, []).append(name)
    return found


def _tree(
    semantics: QueueSemantics,
    declared: Sequence[LocatedQueue],
    policy: PolicyQueues,
    placing: QueuePlacement | None,
) -> QueueNames:
    holding = _holding(declared, semantics) | policy.holding
    names = {each.value.name for each in declared} | policy.queues.keys()
    closed = {each.value.name for each in declared if each.value.closed}
    above = {each.value.name for each in declared if each.value.closed and each.value.noun}
    closed |= {each.value.name for each in declared if each.value.parent in above}
    return QueueNames(
        placing,
        frozenset(names),
        frozenset(holding),
        frozenset(closed),
        tuple(sorted(names - holding - semantics.roots)),
    )


def _in_tree(use: QueueUse, semantics: QueueSemantics, tree: QueueNames) -> Destination | None:
    placing = tree.placing
    name = f"{use.namespace}/{use.queue}" if semantics.namespaced else _resolved(use, placing)
    if not name:
        return None
    fallback = placing is not None and (placing.has_other_rules or semantics.fallback in tree.names)
    if placing and placing.reads_as_parent and name in tree.holding:
        return None
    if placing and not placing.honours_pod_queue:
        verdict = UNREAD
    elif name in semantics.roots or name in tree.holding:
        verdict = HOLDS
    elif name in tree.closed:
        verdict = CLOSED
    elif name in tree.names or (name in semantics.built_in and not (placing and placing.tree)):
        verdict = FOUND
    elif placing and placing.creates_queues:
        verdict = FOUND if _can_be_made(name, tree, semantics) else NOWHERE
    else:
        verdict = ELSEWHERE if fallback else NOWHERE
    return Destination(verdict, name, tree.takers, fallback)


def _answers(tree: QueueNames) -> bool:
    """Whether it tells what becomes of pods: not if only the rule below another one reads their queue."""
    placing = tree.placing
    return placing is None or placing.honours_pod_queue or not placing.reads_as_parent


def _can_be_made(name: str, tree: QueueNames, semantics: QueueSemantics) -> bool:
    """Whether a queue may be created there: below one that takes pods there is none."""
    above = name.rpartition(".")[0]
    while above and above not in tree.names:
        above = above.rpartition(".")[0]
    return not above or above in tree.holding or above in semantics.roots


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
