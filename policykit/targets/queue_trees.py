"""Queue trees that the objects of a scope declare, for any system."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from posixpath import dirname
from typing import TYPE_CHECKING

from policykit.cycles import cycles
from policykit.kube.placeholders import is_placeholder
from policykit.linter.scope import LocatedFact, Scope
from policykit.model.declared_queues import DeclaredQueue
from policykit.model.pool import Amounts
from policykit.model.quantity import amount_text
from policykit.model.queue_semantics import QueueSemantics
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
