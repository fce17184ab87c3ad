"""Queues, tenants, reservations, PriorityClasses and quotas: how the cluster is shared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from policykit.cycles import cycles
from policykit.kube.names import dns_label_problem, dns_subdomain_problem, is_extended, label_value_problem
from policykit.manifests.path import Path
from policykit.model.pool import Amounts, Pool
from policykit.model.quantity import amount_text
from policykit.model.queue import (
    ContainerRange,
    PoolAffinity,
    Preemption,
    Priority,
    Queue,
    Quota,
    Reservation,
    Submitters,
    Tenant,
)
from policykit.policy.compile.amounts import amounts, resource_of, written_as
from policykit.policy.compile.draft import (
    Draft,
    check_all_defined,
    check_defined,
    check_priority_name,
    check_queue_name,
    check_unique,
    unique,
)
from policykit.policy.models import queue as written
from policykit.policy.models.queue import Containers

_OPPOSITES = frozenset(
    {("required", "excluded"), ("required", "avoided"), ("preferred", "excluded"), ("preferred", "avoided")}
)
_LADDER = (("guarantee", "deserved"), ("deserved", "limit"), ("guarantee", "limit"))
EVERYBODY = "*"


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
        stated.protect,
    )
    for low, high in _LADDER:
        _check_order(draft, path, low, getattr(queue, low), high, getattr(queue, high))
    return queue


def _submitters(draft: Draft, path: Path, stated: written.Submitters | None) -> Submitters | None:
    if stated is None:
        return None
    _check_users_and_groups(draft, path, stated.users, stated.groups)
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
        check_all_defined(draft, path, "pool", stated)
        return PoolAffinity(unique(stated))
    parts = {part: unique(getattr(stated, part)) for part in PoolAffinity._fields}
    homes: dict[str, str] = {}
    for part in parts:
        names: tuple[str, ...] = getattr(stated, part)
        check_all_defined(draft, (*path, part), "pool", names)
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


def compile_tenants(draft: Draft) -> tuple[Tenant, ...]:
    """All tenants in the policy's order."""
    homes: dict[str, str] = {}
    return tuple(_tenant(draft, name, homes) for name in draft.policy.tenants)


def _tenant(draft: Draft, name: str, homes: dict[str, str]) -> Tenant:
    path: Path = ("tenants", name)
    stated = draft.policy.tenants[name]
    draft.check(path, f"tenant name {name!r}", label_value_problem(name), key=True)
    for number, namespace in enumerate(stated.namespaces):
        place = (*path, "namespaces", number)
        draft.check(place, f"namespace {namespace!r}", dns_label_problem(namespace))
        home = homes.setdefault(namespace, name)
        if home != name:
            message = f"namespace {namespace} already belongs to tenant {home}"
            draft.problems.error(place, message, "a namespace has one tenant: list it once")
    check_unique(draft, (*path, "namespaces"), stated.namespaces)
    check_queue_name(draft, (*path, "queue"), stated.queue)
    _check_users_and_groups(draft, path, stated.users, stated.groups)
    return Tenant(name, unique(stated.namespaces), stated.queue, unique(stated.users), unique(stated.groups))


def _check_users_and_groups(
    draft: Draft, path: Path, users: tuple[str, ...], groups: tuple[str, ...]
) -> None:
    """Reports names that no system accepts: empty ones, and ones with spaces or commas."""
    for part, names in (("users", users), ("groups", groups)):
        for number, name in enumerate(names):
            if not name or any(letter.isspace() or letter == "," for letter in name):
                message = f"{name!r} is not a {part[:-1]} name, which has no spaces or commas"
                draft.problems.error((*path, part, number), message, "give each name its own entry")
        check_unique(draft, (*path, part), names)
    if EVERYBODY in groups:
        place = (*path, "groups", groups.index(EVERYBODY))
        draft.problems.error(place, "'*' means everybody and belongs under users", 'set users: ["*"]')


def compile_reservations(draft: Draft, pools: Sequence[Pool]) -> tuple[Reservation, ...]:
    """All reservations in the policy's order."""
    by_name = {pool.name: pool for pool in pools}
    return tuple(
        _reservation(draft, name, stated, by_name.get(stated.pool), pools)
        for name, stated in draft.policy.reservations.items()
    )


def _reservation(
    draft: Draft, name: str, stated: written.Reservation, pool: Pool | None, pools: Sequence[Pool]
) -> Reservation:
    path: Path = ("reservations", name)
    draft.check(path, f"reservation name {name!r}", dns_subdomain_problem(name), key=True)
    for key, what, meant in (
        ("tenant", "tenant", stated.tenant),
        ("workload", "workload kind", stated.workload),
        ("pool", "pool", stated.pool),
    ):
        if meant:
            check_defined(draft, (*path, key), what, meant)
    if not (stated.tenant or stated.workload):
        message = f"nothing may use reservation {name!r}"
        draft.problems.error(path, message, "add tenant, or workload, or both", key=True)
    requests = amounts(draft, (*path, "requests"), stated.requests)
    if not any(requests.values()):
        message = f"reservation {name!r} reserves nothing"
        draft.problems.error(path, message, "add requests: {cpu: 8, memory: 64Gi}", key=True)
    if pool is not None:
        _check_offered(draft, (*path, "requests"), requests, pool, pools)
    return Reservation(
        name, requests, stated.pods, stated.tenant, stated.workload, stated.pool, stated.ttl or 0
    )


def _check_offered(draft: Draft, path: Path, requests: Amounts, pool: Pool, pools: Sequence[Pool]) -> None:
    """Reports requests for cards that the chosen pool does not have."""
    cards = {resource for each in pools for resource in each.resources} - set(pool.resources)
    for resource in sorted(cards & requests.keys()):
        message = f"pool {pool.name} has no {resource}"
        draft.problems.error((*path, written_as(draft, path, resource)), message, key=True)


_LIMITABLE = ("cpu", "memory", "ephemeral-storage")
_PARTS = {"default": "default", "default_request": "defaultRequest", "minimum": "min", "maximum": "max"}
"""Field of `ContainerRange` to its key in the policy."""
_CONTAINER_LADDER = (
    ("default_request", "default"),
    ("default", "maximum"),
    ("minimum", "default_request"),
    ("default_request", "maximum"),
    ("minimum", "default"),
    ("minimum", "maximum"),
)


def compile_priorities(draft: Draft) -> tuple[Priority, ...]:
    """All PriorityClasses in the policy's order."""
    found = tuple(_priority(draft, name, stated) for name, stated in draft.policy.priorities.items())
    defaults = [priority.name for priority in found if priority.default]
    for name in defaults[1:]:
        message = f"only one PriorityClass can be the default, and {defaults[0]} already is"
        draft.problems.error(("priorities", name, "default"), message, "keep default: true on one of them")
    return found


def _priority(draft: Draft, name: str, stated: written.Priority) -> Priority:
    path: Path = ("priorities", name)
    draft.check(path, f"priority name {name!r}", dns_subdomain_problem(name), key=True)
    if name.startswith("system-"):
        draft.problems.error(
            path, f"priority {name!r}: the prefix system- is reserved for Kubernetes", key=True
        )
    if stated.value is None:
        draft.problems.error(path, f"priority {name!r} has no value", "add value: 1000", key=True)
    return Priority(name, stated.value or 0, stated.preempts, stated.default, stated.description)


def compile_quotas(draft: Draft) -> tuple[Quota, ...]:
    """All ResourceQuotas in the policy's order."""
    found = tuple(_quota(draft, name, stated) for name, stated in draft.policy.quotas.items())
    homes: dict[str, str] = {}
    for quota in found:
        home = homes.setdefault(quota.namespace, quota.name) if quota.containers is not None else quota.name
        if home != quota.name:
            message = (
                f"quota {home} already sets container defaults and bounds for namespace {quota.namespace}"
            )
            draft.problems.error(
                ("quotas", quota.name, "containers"), message, "set them in one quota", key=True
            )
    return found


def _quota(draft: Draft, name: str, stated: written.Quota) -> Quota:
    path: Path = ("quotas", name)
    draft.check(path, f"quota name {name!r}", dns_subdomain_problem(name), key=True)
    namespace = stated.namespace or name
    place = (*path, "namespace") if stated.namespace else path
    draft.check(place, f"namespace {namespace!r}", dns_label_problem(namespace), key=not stated.namespace)
    for resource in stated.limits:
        known = resource in draft.cards or "/" in resource
        if known and is_extended(resource_of(draft, (*path, "limits", resource), resource)):
            message = f"a quota on limits of {resource} has no effect"
            draft.problems.error((*path, "limits", resource), message, "set it under requests", key=True)
    requests = amounts(draft, (*path, "requests"), stated.requests)
    limits = amounts(draft, (*path, "limits"), stated.limits)
    for number, priority in enumerate(stated.priorities):
        check_priority_name(draft, (*path, "priorities", number), priority)
    check_unique(draft, (*path, "priorities"), stated.priorities)
    ranges = _container_range(draft, (*path, "containers"), stated.containers)
    return Quota(namespace, name, requests, limits, stated.pods, unique(stated.priorities), ranges)


def _container_range(draft: Draft, path: Path, stated: Containers | None) -> ContainerRange | None:
    """What containers may and do request; None if the policy sets nothing."""
    if stated is None:
        return None
    found = ContainerRange(
        _amounts(draft, (*path, "default"), stated.default),
        _amounts(draft, (*path, "defaultRequest"), stated.default_request),
        _amounts(draft, (*path, "min"), stated.min),
        _amounts(draft, (*path, "max"), stated.max),
    )
    reported: set[tuple[str, str]] = set()
    for low, high in _CONTAINER_LADDER:
        less, more = getattr(found, low), getattr(found, high)
        for resource in sorted(less.keys() & more.keys()):
            if less[resource] > more[resource] and (low, resource) not in reported:
                reported.add((low, resource))
                have, limit = amount_text(resource, less[resource]), amount_text(resource, more[resource])
                message = f"{_PARTS[low]} of {resource} is {have}, above {_PARTS[high]} {limit}"
                draft.problems.error((*path, _PARTS[low], resource), message, "lower it")
    return found


def _amounts(draft: Draft, path: Path, stated: dict[str, str]) -> Amounts:
    for name in stated:
        if name not in _LIMITABLE:
            card = name in draft.cards or "/" in name or name in draft.names("cards")
            message = (
                f"a LimitRange on {name} would give {'cards' if name in draft.cards else 'it'} to containers "
                "that request none"
                if card
                else f"a LimitRange for containers covers cpu, memory and ephemeral-storage, not {name}"
            )
            hint = "limit it in the quota itself, under requests" if card else ""
            draft.problems.error((*path, name), message, hint, key=True)
    return amounts(draft, path, {name: text for name, text in stated.items() if name in _LIMITABLE})
