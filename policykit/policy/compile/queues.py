"""Queues: their tree, and amounts that fit into each other."""

from __future__ import annotations

from collections.abc import Mapping

from policykit.kube.names import dns_subdomain_problem
from policykit.manifests.path import Path
from policykit.model.pool import Amounts
from policykit.model.quantity import amount_text
from policykit.model.queue import Queue
from policykit.policy.compile.amounts import amounts
from policykit.policy.compile.draft import Draft
from policykit.policy.models import queue as written

_LADDER = (("guarantee", "deserved"), ("deserved", "limit"), ("guarantee", "limit"))


def compile_queues(draft: Draft) -> tuple[Queue, ...]:
    """All queues in the policy's order."""
    queues = tuple(_queue(draft, name, stated) for name, stated in draft.policy.queues.items())
    _check_circles(draft)
    _check_children(draft, {queue.name: queue for queue in queues})
    return queues


def _queue(draft: Draft, name: str, stated: written.Queue) -> Queue:
    path: Path = ("queues", name)
    draft.check(path, f"queue name {name!r}", dns_subdomain_problem(name), key=True)
    queue = Queue(
        name,
        "" if stated.parent == "root" else stated.parent,
        stated.weight,
        amounts(draft, (*path, "guarantee"), stated.guarantee),
        amounts(draft, (*path, "deserved"), stated.deserved),
        amounts(draft, (*path, "limit"), stated.limit),
        stated.priority,
        stated.reclaimable,
    )
    for low, high in _LADDER:
        _check_order(draft, path, low, getattr(queue, low), high, getattr(queue, high))
    return queue


def _check_order(draft: Draft, path: Path, low: str, less: Amounts, high: str, more: Amounts) -> None:
    for resource in sorted(less.keys() & more.keys()):
        if less[resource] > more[resource]:
            have, limit = amount_text(resource, less[resource]), amount_text(resource, more[resource])
            message = f"queue {path[1]}: {low} of {resource} is {have}, more than its {high} {limit}"
            draft.problems.error((*path, low, _written(draft, (*path, low), resource)), message)


def _check_circles(draft: Draft) -> None:
    parents = {name: queue.parent for name, queue in draft.policy.queues.items()}
    told: set[str] = set()
    for name in parents:
        chain = [name]
        while (parent := parents.get(chain[-1], "")) and parent not in chain:
            chain.append(parent)
        if parent == name and name not in told:
            told |= set(chain)
            circle = " -> ".join((*chain, name))
            draft.problems.error(
                ("queues", name, "parent"), f"queues go in a circle: {circle}", "remove one parent"
            )


def _check_children(draft: Draft, queues: Mapping[str, Queue]) -> None:
    """What children are promised, and may use at most, must fit into their parent."""
    for name, parent in queues.items():
        children = [queue for queue in queues.values() if queue.parent == name]
        for resource in sorted(parent.guarantee):
            total = sum(child.guarantee.get(resource, 0) for child in children)
            if total > parent.guarantee[resource]:
                have = amount_text(resource, parent.guarantee[resource])
                message = (
                    f"queue {name} guarantees {have} {resource}, its children "
                    f"{amount_text(resource, total)} in all"
                )
                path = ("queues", name, "guarantee")
                draft.problems.error(
                    (*path, _written(draft, path, resource)), message, "raise it, or lower theirs"
                )
        for child in children:
            _check_limits(draft, parent, child)


def _check_limits(draft: Draft, parent: Queue, child: Queue) -> None:
    for resource in sorted(child.limit.keys() & parent.limit.keys()):
        if child.limit[resource] > parent.limit[resource]:
            own, above = (amount_text(resource, q.limit[resource]) for q in (child, parent))
            path = ("queues", child.name, "limit")
            message = f"queue {child.name} may use {own} {resource}, its parent {parent.name} only {above}"
            draft.problems.notice((*path, _written(draft, path, resource)), message)


def _written(draft: Draft, path: Path, resource: str) -> str:
    """The key under which a resource was written: its name, or a card's."""
    for key in draft.names(*map(str, path)):
        if key == resource or (key in draft.cards and draft.cards[key].resource == resource):
            return key
    return resource
