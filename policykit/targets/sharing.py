"""Trees of queues as a scope declares them, whatever system they are for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from importlib import import_module
from posixpath import dirname
from typing import TYPE_CHECKING

from policykit.kube.structure.scalars import is_placeholder
from policykit.linter.scope import Located, Scope
from policykit.model.pool import Amounts
from policykit.model.quantity import amount_text
from policykit.model.sharing import DeclaredQueue
from policykit.targets.queue_semantics import QueueSemantics

if TYPE_CHECKING:
    from policykit.model.cluster import Cluster

SYSTEMS = ("volcano", "koordinator", "yunikorn")
Declared = Located[DeclaredQueue]


def queue_semantics(system: str, cluster: Cluster | None) -> QueueSemantics:
    """How a system treats queues, in the release that the policy states."""
    found: QueueSemantics = import_module(f"policykit.targets.{system}.sharing").queue_semantics(cluster)
    return found


def shown(semantics: QueueSemantics, resource: str, amount: int) -> str:
    """`memory 4Gi`, under the system's own name of the resource."""
    return f"{semantics.resource_names.get(resource, resource)} {amount_text(resource, amount)}"


class Tree:
    """The queues of one system that may form one tree, with their parents.

    Files may declare a queue twice, for two clusters say: a queue's parent is then the one in
    its own file, else in its folder, else the only one there is; and where that leaves several,
    the rules report nothing about the two.
    """

    def __init__(self, queues: Sequence[Declared], semantics: QueueSemantics) -> None:
        """`queues` are one at least."""
        self.queues = tuple(queues)
        self.system = queues[0].value.system
        self.semantics = semantics
        self._named: dict[str, list[Declared]] = {}
        for each in self.queues:
            self._named.setdefault(each.value.name, []).append(each)
        self._parents = {id(each): self._nearest(each) for each in self.queues}
        self._children: dict[int, list[Declared]] = {}
        for each in self.queues:
            parent = self._parents[id(each)]
            if parent is not None:
                self._children.setdefault(id(parent), []).append(each)

    def named(self, name: str) -> tuple[Declared, ...]:
        """Every declaration of a name."""
        return tuple(self._named.get(name, ()))

    def parent(self, queue: Declared) -> Declared | None:
        """Its parent; None: none is declared, or it is ambiguous."""
        return self._parents[id(queue)]

    def children(self, queue: Declared) -> tuple[Declared, ...]:
        return tuple(self._children.get(id(queue), ()))

    def measured(self, queue: Declared) -> tuple[Declared, ...]:
        """Its children with readable amounts."""
        return tuple(each for each in self.children(queue) if each.value.measured and not each.partial)

    def above(self, queue: Declared) -> Iterator[Declared]:
        """Its ancestors that bind it, the nearest first; each once, though they go round in a circle."""
        seen = {id(queue)}
        here = self.parent(queue)
        while here is not None and id(here) not in seen and here.value.name not in self.semantics.roots:
            seen.add(id(here))
            yield here
            here = self.parent(here)

    def _nearest(self, queue: Declared) -> Declared | None:
        there = [each for each in self.named(queue.value.parent) if not each.partial]
        if queue.value.parent == queue.value.name:
            return None
        for near in (_same_file, _same_folder):
            found = [each for each in there if near(each, queue)]
            if found:
                there = found
                break
        return there[0] if len(there) == 1 else None


def _same_file(one: Declared, other: Declared) -> bool:
    return one.path == other.path


def _same_folder(one: Declared, other: Declared) -> bool:
    return dirname(one.path) == dirname(other.path)


def trees(scope: Scope, cluster: Cluster | None, *, configurations: bool = False) -> Iterator[Tree]:
    """The trees of a scope, those of objects only where every file of it is known.

    Configurations, which are complete by themselves, only on request: their systems validate them.
    Queues whose names are placeholders are left out.
    """
    groups: dict[tuple[str, str], list[Declared]] = {}
    for each in scope.of(DeclaredQueue):
        queue = each.value
        if queue.name and not is_placeholder(queue.name) and (queue.tree or scope.complete):
            groups.setdefault((queue.system, queue.tree), []).append(each)
    for (system, _), queues in groups.items():
        semantics = queue_semantics(system, cluster)
        if not semantics.own_validator or configurations:
            yield Tree(queues, semantics)


def amounts(queue: DeclaredQueue, field: str) -> Amounts:
    """guarantee, deserved or limit."""
    found: Amounts = getattr(queue, field)
    return found


def in_all(queues: Iterable[Declared], field: str, resource: str) -> int:
    """The sum over queues; if one is defined twice, the smaller amount counts."""
    least: dict[str, int] = {}
    for queue in queues:
        name, amount = queue.value.name, amounts(queue.value, field).get(resource, 0)
        least[name] = min(amount, least.get(name, amount))
    return sum(least.values())


def place(queue: Declared, *fields: str) -> str:
    """The first of these places that the queue has."""
    return next((field for field in fields if field in queue.fields), "name")
