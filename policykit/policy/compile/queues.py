"""Queues: their tree, and amounts that fit within their parents'."""

from __future__ import annotations

from collections.abc import Mapping

from policykit.cycles import cycles
from policykit.kube.names import dns_subdomain_problem
from policykit.manifests.path import Path
from policykit.model.pool import Amounts
from policykit.model.quantity import amount_text
from policykit.model.queue import PoolAffinity, Preemption, Queue, Submitters
from policykit.policy.compile.amounts import amounts, written_as
from policykit.policy.compile.draft import Draft, unique
from policykit.policy.compile.known import all_known
from policykit.policy.compile.people import EVERYBODY, check_people
from policykit.policy.models import queue as written

_OPPOSITES = frozenset(
    {("required", "excluded"), ("required", "avoided"), ("preferred", "excluded"), ("preferred", "avoided")}
)
_LADDER = (("guarantee", "deserved"), ("deserved", "limit"), ("guarantee", "limit"))


def compile_queues(draft: Draft) -> tuple[Queue, ...]:
    """All queues in the policy's order."""
    queues = tuple(_queue(draft, name, stated) for name, stated in draft.policy.queues.items())
    _check_circles(draft)
    _check_children(draft, {queue.name: queue for queue in queues})
    return queues


def compile_preemption(draft: Draft) -> Preemption:
    """Which pods may be preempted for which."""
    stated = draft.policy.preemption
    return Preemption(stated.within_queue, stated.reclaim)


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
        _submitters(draft, (*path, "submit"), stated.submit),
        _pools(draft, (*path, "pools"), stated.pools),
    )
    for low, high in _LADDER:
        _check_order(draft, path, low, getattr(queue, low), high, getattr(queue, high))
    return queue


def _submitters(draft: Draft, path: Path, stated: written.Submit | None) -> Submitters | None:
    if stated is None:
        return None
    check_people(draft, path, stated.users, stated.groups)
    if EVERYBODY in stated.users and (len(stated.users) > 1 or stated.groups):
        message = "'*' means everybody, so the other entries have no effect"
        draft.problems.notice((*path, "users", stated.users.index(EVERYBODY)), message)
    return Submitters(unique(stated.users), unique(stated.groups))


def _pools(
    draft: Draft, path: Path, stated: written.QueuePools | tuple[str, ...] | None
) -> PoolAffinity | None:
    if stated is None:
        return None
    if isinstance(stated, tuple):
        all_known(draft, path, "pool", stated)
        return PoolAffinity(unique(stated))
    parts = {part: unique(getattr(stated, part)) for part in PoolAffinity._fields}
    homes: dict[str, str] = {}
    for part in parts:
        names: tuple[str, ...] = getattr(stated, part)
        all_known(draft, (*path, part), "pool", names)
        for number, name in enumerate(names):
            home = homes.setdefault(name, part)
            if (home, part) in _OPPOSITES:
                message = f"pool {name} is under both {home} and {part} for queue {path[1]}"
                draft.problems.error((*path, part, number), message, "keep it in one of them")
    return PoolAffinity(**parts)


def _check_order(draft: Draft, path: Path, low: str, less: Amounts, high: str, more: Amounts) -> None:
    for resource in sorted(less.keys() & more.keys()):
        if less[resource] > more[resource]:
            have, limit = amount_text(resource, less[resource]), amount_text(resource, more[resource])
            message = f"queue {path[1]}: {low} of {resource} is {have}, above its {high} {limit}"
            draft.problems.error((*path, low, written_as(draft, (*path, low), resource)), message)


def _check_circles(draft: Draft) -> None:
    for circle in cycles({name: (queue.parent,) for name, queue in draft.policy.queues.items()}):
        path = ("queues", circle[0], "parent")
        way = " -> ".join((*circle, circle[0]))
        draft.problems.error(path, f"queue parents form a cycle: {way}", "remove one parent")


def _check_children(draft: Draft, queues: Mapping[str, Queue]) -> None:
    """Reports children whose guarantees or limits do not fit within their parent's."""
    below: dict[str, list[Queue]] = {}
    for queue in queues.values():
        below.setdefault(queue.parent, []).append(queue)
    for name, parent in queues.items():
        children = below.get(name, [])
        for resource in sorted(parent.guarantee):
            total = sum(child.guarantee.get(resource, 0) for child in children)
            if total > parent.guarantee[resource]:
                have = amount_text(resource, parent.guarantee[resource])
                message = (
                    f"queue {name} guarantees {have} {resource}, but its children "
                    f"{amount_text(resource, total)} in total"
                )
                path = ("queues", name, "guarantee")
                draft.problems.error(
                    (*path, written_as(draft, path, resource)), message, "raise it, or lower theirs"
                )
        for child in children:
            _check_limits(draft, parent, child)


def _check_limits(draft: Draft, parent: Queue, child: Queue) -> None:
    for resource in sorted(child.limit.keys() & parent.limit.keys()):
        if child.limit[resource] > parent.limit[resource]:
            own, above = (amount_text(resource, q.limit[resource]) for q in (child, parent))
            path = ("queues", child.name, "limit")
            message = (
                f"queue {child.name} may use {own} {resource}, but its parent {parent.name} only {above}"
            )
            draft.problems.notice((*path, written_as(draft, path, resource)), message)
