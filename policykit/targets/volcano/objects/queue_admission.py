"""Queues in the form that Volcano's webhook admits: with defaults, and without contradictions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from policykit.errors import PolicykitError
from policykit.kube.names import dns_subdomain_problem
from policykit.model.pool import Amounts, Pool
from policykit.model.quantity import amount_text
from policykit.model.queue import Queue
from policykit.model.release import Version
from policykit.targets.volcano import versions
from policykit.targets.volcano.objects import nodegroups
from policykit.targets.volcano.objects.queues import MAX_DEPTH, is_counted

MAX_WEIGHT = 65535


def admitted_queues(
    queues: Sequence[Queue], version: Version, pools: Sequence[Pool] = ()
) -> tuple[tuple[Queue, ...], tuple[str, ...]]:
    """The queues to write, parents first and then by name, and notices.

    `pools`: all pools of the cluster, which queues without pools of their own may use.
    Raises PolicykitError for queues that contradict themselves or their parents.
    """
    notices = [_ROOT] if any(queue.name == "root" for queue in queues) else []
    grouped, lost = nodegroups.assign_node_groups(_with_default(queues, version), pools, version)
    notices += lost
    parents = {queue.parent for queue in queues}
    untouched = () if "default" in parents else (Queue("default"),)
    written = [q._replace(submit=None) for q in grouped if q.name != "root" and q not in untouched]
    written = _without_unknown_fields(version, written, notices)
    ordered = _parents_first(written)
    if version >= versions.CAPACITY:
        ordered = _with_children(ordered)
    named = {queue.name: queue for queue in ordered}
    for queue in ordered:
        _check(queue)
        _check_under_ancestors(queue, named)
        notices += _dropped(queue)
    full, added = complete_limits(ordered, version)
    return full, (*notices, *added)


def _with_default(queues: Sequence[Queue], version: Version) -> Sequence[Queue]:
    """Adds queue default if it needs node groups, since Volcano creates it without."""
    there = any(queue.name == "default" for queue in queues)
    if there or version < versions.CAPACITY or not nodegroups.uses_node_groups(queues):
        return queues
    return (*queues, Queue("default"))


_ROOT = "queue root belongs to Volcano: its settings are not written. Set limits on the queues below it"


def _without_unknown_fields(version: Version, queues: list[Queue], notices: list[str]) -> list[Queue]:
    """Removes the fields that the release does not read."""
    if version < versions.CAPACITY and _any_with(queues, "deserved"):
        notices.append(
            f"Volcano {version} has no Queue.spec.deserved (added in {versions.CAPACITY}): it is not written"
        )
        queues = [queue._replace(deserved={}) for queue in queues]
    if version < versions.QUEUE_PRIORITY and any(queue.priority is not None for queue in queues):
        notices.append(
            f"Volcano {version} has no Queue.spec.priority (added in {versions.QUEUE_PRIORITY}): it is not "
            "written"
        )
        queues = [queue._replace(priority=None) for queue in queues]
    if version < versions.HIERARCHY and hierarchical(queues):
        notices.append(
            f"Volcano {version} has no queue tree (added in {versions.HIERARCHY}): the queues are written "
            "flat. The guarantee of a parent adds to those of its children, and its limit does not apply "
            "to them: set both on the queues without children"
        )
        queues = [queue._replace(parent="") for queue in queues]
    return queues


def hierarchical(queues: Iterable[Queue]) -> bool:
    """Whether a queue has a parent other than root."""
    return any(queue.parent not in ("", "root") for queue in queues)


def shared_by_capacity(queues: Iterable[Queue]) -> bool:
    """Whether the queues need plugin capacity: proportion supports only weights and limits."""
    listed = list(queues)
    return hierarchical(listed) or _any_with(listed, "deserved") or _any_with(listed, "guarantee")


def _any_with(queues: Iterable[Queue], field: str) -> bool:
    return any(getattr(queue, field) for queue in queues)


def _name(queue: Queue) -> str:
    return queue.name


def _parents_first(queues: Iterable[Queue]) -> list[Queue]:
    waiting = {queue.name: queue for queue in sorted(queues, key=_name)}
    depths = {"": 0, "root": 0}
    ordered: list[Queue] = []
    while waiting:
        ready = [queue for queue in waiting.values() if queue.parent in depths]
        if not ready:
            raise _broken(next(iter(waiting.values())), waiting)
        for queue in ready:
            depths[queue.name] = depths[queue.parent] + 1
            ordered.append(waiting.pop(queue.name))
            if depths[queue.name] > MAX_DEPTH:
                raise PolicykitError(
                    f"queue {queue.name} is {depths[queue.name]} levels below root, more than {MAX_DEPTH}",
                    "make the queue tree flatter",
                    path=("queues", queue.name),
                )
    return ordered


def _broken(queue: Queue, waiting: Mapping[str, Queue]) -> PolicykitError:
    if queue.parent in waiting:
        message, hint = f"queue {queue.name} is its own ancestor", f"give {queue.name} another parent"
        return PolicykitError(message, hint, path=("queues", queue.name, "parent"))
    return PolicykitError(
        f"queue {queue.name} has parent {queue.parent}, which does not exist",
        "name a queue of the policy as its parent",
        path=("queues", queue.name, "parent"),
    )


def _with_children(ordered: Sequence[Queue]) -> list[Queue]:
    """Parents that state no amount get the total of their children as guarantee and deserved, and every queue
    deserves at least what it is guaranteed, as the webhook requires (since 1.13)."""
    below: dict[str, list[Queue]] = {}
    completed: list[Queue] = []
    for queue in reversed(ordered):
        children = below.get(queue.name, [])
        guaranteed = _total(child.guarantee for child in children)
        deserved = _total(child.deserved for child in children)
        guarantee = {**guaranteed, **queue.guarantee}
        least = {name: max(guarantee.get(name, 0), deserved.get(name, 0)) for name in (*guarantee, *deserved)}
        own = queue._replace(guarantee=guarantee, deserved={**least, **queue.deserved})
        _compare(f"the children of queue {own.name} have guarantee", guaranteed, own, own, "guarantee")
        _compare(f"the children of queue {own.name} have deserved", deserved, own, own, "deserved")
        below.setdefault(own.parent, []).append(own)
        completed.append(own)
    return completed[::-1]


def _total(amounts: Iterable[Amounts]) -> dict[str, int]:
    total: dict[str, int] = {}
    for listed in amounts:
        for resource, amount in listed.items():
            total[resource] = total.get(resource, 0) + amount
    return total


def _check(queue: Queue) -> None:
    problem = dns_subdomain_problem(queue.name)
    if problem:
        raise PolicykitError(
            f"queue {queue.name!r} {problem}",
            "rename it: Volcano's queues are Kubernetes objects",
            path=("queues", queue.name),
        )
    if not 1 <= queue.weight <= MAX_WEIGHT:
        raise PolicykitError(
            f"queue {queue.name} has weight {queue.weight}",
            f"write a weight from 1 to {MAX_WEIGHT}",
            path=("queues", queue.name, "weight"),
        )
    if queue.priority is not None and queue.priority < 0:
        raise PolicykitError(
            f"queue {queue.name} has priority {queue.priority}",
            "write a priority of 0 or more",
            path=("queues", queue.name, "priority"),
        )
    _compare(f"queue {queue.name} has guarantee", queue.guarantee, queue, queue, "deserved")
    _compare(f"queue {queue.name} has deserved", queue.deserved, queue, queue, "limit")


def _check_under_ancestors(queue: Queue, named: Mapping[str, Queue]) -> None:
    ancestor = named.get(queue.parent)
    while ancestor:
        _compare(f"queue {queue.name} has limit", queue.limit, queue, ancestor, "limit")
        ancestor = named.get(ancestor.parent)


def _compare(what: str, amounts: Amounts, of: Queue, bound: Queue, field: str) -> None:
    """Raises PolicykitError if an amount exceeds that in a field of `bound`; missing resources are unlimited.

    `what` names the owner of the amounts and ends with their field; `of` is the queue to change.
    """
    limits: Amounts = getattr(bound, field)
    for resource in sorted(amounts):
        if resource in limits and amounts[resource] > limits[resource]:
            raise PolicykitError(
                f"{what} {resource} {amount_text(resource, amounts[resource])}, above "
                f"{field} {amount_text(resource, limits[resource])} of queue {bound.name}",
                f"lower the first or raise {field} of queue {bound.name}: Volcano rejects such a queue",
                path=("queues", of.name, what.rpartition(" ")[2]),
            )


def _dropped(queue: Queue) -> list[str]:
    named = sorted({*queue.guarantee, *queue.deserved, *queue.limit})
    return [
        f"queue {queue.name}: Volcano drops resource {resource} silently. Use cpu, memory, pods, "
        "ephemeral-storage, hugepages-<size> or a name with a domain, such as nvidia.com/gpu"
        for resource in named
        if not is_counted(resource)
    ]


def complete_limits(queues: Sequence[Queue], version: Version) -> tuple[tuple[Queue, ...], tuple[str, ...]]:
    """The queues, parents first, with the resources in their limits that the webhook of a release requires.

    An added limit is as large as possible: the sum of the children's limits, but at least what is
    deserved, and at most the nearest limit above.
    """
    first, last = versions.WHOLE_LISTS
    if not first <= version <= last:
        return tuple(queues), ()
    stated = {queue.name: queue for queue in queues}
    below: dict[str, list[Queue]] = {}
    done: list[Queue] = []
    notices: list[str] = []
    for queue in reversed(queues):
        missing = _missing(queue, below.get(queue.name, []), whole=version >= versions.PARENT_LIMITS_WHOLE)
        if missing:
            notices.append(_notice(queue, missing, version))
        limit = {name: min(amount, _above(queue, name, stated)) for name, amount in missing.items()}
        full = queue._replace(limit={**queue.limit, **{name: int(amount) for name, amount in limit.items()}})
        below.setdefault(queue.parent, []).append(full)
        done.append(full)
    return tuple(done[::-1]), tuple(notices[::-1])


def _missing(queue: Queue, children: Sequence[Queue], *, whole: bool) -> dict[str, int]:
    """Amounts missing in a queue's limit. `whole`: also for all resources in its children's limits."""
    below: dict[str, int] = {}
    for child in children:
        for name, amount in child.limit.items():
            below[name] = below.get(name, 0) + amount
    if not queue.limit and not (whole and below):
        return {}
    names = {**queue.deserved, **(below if whole else {})}
    missing = {name: max(below.get(name, 0), queue.deserved.get(name, 0)) for name in names}
    return {name: amount for name, amount in missing.items() if name not in queue.limit}


def _above(queue: Queue, resource: str, stated: Mapping[str, Queue]) -> float:
    above = stated.get(queue.parent)
    while above is not None:
        if resource in above.limit:
            return above.limit[resource]
        above = stated.get(above.parent)
    return float("inf")


def _notice(queue: Queue, missing: Mapping[str, int], version: Version) -> str:
    return (
        f"queue {queue.name}: Volcano {version} takes a resource missing in a limit as 0, so a limit on "
        f"{', '.join(sorted(missing))} is added: what is deserved, or what the queues below may use. Set "
        "it, or use 1.14.2 or newer"
    )
