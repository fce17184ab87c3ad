"""Queues as a tree of ElasticQuotas, built so that Koordinator's webhook accepts it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from policykit.errors import PolicykitError
from policykit.kube.names import is_hugepages, label_value_problem
from policykit.model.pool import Amounts
from policykit.model.quantity import amount_text
from policykit.model.queue import Queue, Tenant
from policykit.model.release import Version
from policykit.namedtuple import NamedTuple
from policykit.targets.koordinator.objects.quotas import BUILT_IN, ElasticQuota, QueueResources
from policykit.targets.koordinator.objects.values import admitted_amounts

_UNLIMITED = 10**9
"""A maximum that limits nothing: a million cores, a billion cards."""
_UNLIMITED_BYTES = 2**60
_BYTES = frozenset({"memory", "ephemeral-storage"})


class Tree(NamedTuple):
    """ElasticQuotas, each parent before its children, and notices about what they cannot express."""

    quotas: tuple[ElasticQuota, ...]
    notices: tuple[str, ...] = ()


class _Node(NamedTuple):
    """A queue in the tree, with amounts under the resource names that Koordinator counts."""

    queue: Queue
    parent: str
    children: tuple[str, ...]
    guarantee: Amounts
    due: Amounts
    """The larger of guarantee and deserved, per resource."""
    limit: Amounts
    top: str
    """Its ancestor directly below the root, or itself."""


def tree(queues: tuple[Queue, ...], namespace: str, version: Version) -> Tree:
    """The queues' ElasticQuotas, all in one namespace: their names must be unique.

    A parent's minimum is at least the sum of its children's, each maximum has the resources of the
    whole tree, and no minimum exceeds its maximum or adds up to more than the parent's.
    Raises PolicykitError for a name that is not a valid label value.
    """
    nodes = _nodes(queues, version)
    needs = _needs(nodes)
    maxima = _maxima(nodes)
    minima = _minima(nodes, needs, maxima)
    quotas = tuple(
        ElasticQuota(
            name,
            namespace,
            node.parent,
            bool(node.children),
            minima[name],
            maxima[name],
            lends(minima[name], node.guarantee),
            {resource: _weight(resource, node.queue.weight) for resource in maxima[name]},
            stated=QueueResources(
                *map(_names, (node.queue.guarantee, node.queue.deserved, node.queue.limit))
            ),
        )
        for name, node in nodes.items()
    )
    return Tree(quotas, (*_built_in_notices(queues), *_minimum_notices(nodes, minima)))


def bind_namespaces(
    quotas: tuple[ElasticQuota, ...], tenants: tuple[Tenant, ...]
) -> tuple[tuple[ElasticQuota, ...], tuple[str, ...]]:
    """The quotas with the namespaces of their tenants, each namespace in one quota; and notices.

    Koordinator's webhook refuses pods in a quota with children, so no namespace is bound to one.
    """
    there = {quota.name: quota for quota in quotas}
    found: dict[str, dict[str, tuple[str, ...]]] = {}
    taken: dict[str, str] = {}
    notices: list[str] = []
    for tenant in tenants:
        quota = there.get(tenant.queue)
        if quota is None or not tenant.namespaces:
            continue
        if quota.is_parent:
            notices.append(
                f"tenant {tenant.name} has queue {quota.name}, which has children: Koordinator refuses "
                "pods in such a queue, so its namespaces are bound to none. Name one of the children"
            )
            continue
        for namespace in tenant.namespaces:
            if taken.setdefault(namespace, tenant.name) != tenant.name:
                notices.append(
                    f"namespace {namespace} belongs to tenants {taken[namespace]} and {tenant.name}: it is "
                    f"bound to the queue of {taken[namespace]}"
                )
        own = tuple(dict.fromkeys(n for n in tenant.namespaces if taken[n] == tenant.name))
        if own:
            found.setdefault(quota.name, {})[tenant.name] = own
    return tuple(_with_tenants(quota, found.get(quota.name, {})) for quota in quotas), tuple(notices)


def lends(minimum: Amounts, guarantee: Amounts) -> bool:
    """Whether the unused part of a minimum is lent: not if all of it is guaranteed."""
    return not any(minimum.values()) or any(
        amount > guarantee.get(resource, 0) for resource, amount in minimum.items()
    )


def unlimited_amount(resource: str) -> int:
    """The maximum that is written for an unlimited resource."""
    return _UNLIMITED_BYTES if resource in _BYTES or is_hugepages(resource) else _UNLIMITED


def _nodes(queues: tuple[Queue, ...], version: Version) -> dict[str, _Node]:
    """Parents before children, otherwise in the policy's order."""
    own = {queue.name: queue for queue in queues if queue.name not in BUILT_IN}
    below: dict[str, list[str]] = {}
    for queue in own.values():
        _check_name(queue.name)
        below.setdefault(queue.parent if queue.parent in own else "", []).append(queue.name)
    found: dict[str, _Node] = {}
    waiting = [(name, "", name) for name in reversed(below.get("", []))]
    while waiting:
        name, parent, top = waiting.pop()
        queue, children = own[name], tuple(below.get(name, ()))
        guarantee = admitted_amounts(queue.guarantee, version)
        due = _larger(guarantee, admitted_amounts(queue.deserved, version))
        found[name] = _Node(
            queue, parent, children, guarantee, due, admitted_amounts(queue.limit, version), top
        )
        waiting += [(child, name, top) for child in reversed(children)]
    return found


def _check_name(name: str) -> None:
    problem = label_value_problem(name)
    if problem:
        raise PolicykitError(
            f"queue {name!r} {problem}, but Koordinator's pods and quotas use it as a label value",
            "give the queue a shorter name",
            path=("queues", name),
        )


def _needs(nodes: Mapping[str, _Node]) -> dict[str, dict[str, int]]:
    """The minimum of each queue without limits: its due, or the sum of its children's."""
    needs: dict[str, dict[str, int]] = {}
    for name in reversed(tuple(nodes)):
        together = _sum(needs[child] for child in nodes[name].children)
        needs[name] = _larger(nodes[name].due, together)
    return needs


def _maxima(nodes: Mapping[str, _Node]) -> dict[str, dict[str, int]]:
    """The queue's own limit, or else the parent's maximum, for every resource of the tree."""
    known: dict[str, set[str]] = {}
    for node in nodes.values():
        known.setdefault(node.top, set()).update(node.limit, node.due)
    maxima: dict[str, dict[str, int]] = {}
    for name, node in nodes.items():
        above = maxima.get(node.parent, {})
        maxima[name] = {
            resource: node.limit.get(resource, above.get(resource, unlimited_amount(resource)))
            for resource in sorted(known[node.top])
        }
    return maxima


def _minima(
    nodes: Mapping[str, _Node], needs: Mapping[str, Amounts], maxima: Mapping[str, Amounts]
) -> dict[str, dict[str, int]]:
    """What each queue needs, capped at its maximum, and shared in proportion if the parent has less."""
    minima = {name: _capped(needs[name], maxima[name]) for name, node in nodes.items() if node.parent == ""}
    for name, node in nodes.items():
        have, wanted = minima[name], _sum(needs[child] for child in node.children)
        capped = {child: _capped(needs[child], maxima[child]) for child in node.children}
        together = _sum(capped.values())
        for child, amounts in capped.items():
            minima[child] = {
                resource: amount
                if together[resource] <= have[resource]
                else min(amount, needs[child][resource] * have[resource] // wanted[resource])
                for resource, amount in amounts.items()
            }
    return minima


def _built_in_notices(queues: tuple[Queue, ...]) -> Iterator[str]:
    for queue in queues:
        if queue.name in BUILT_IN:
            yield f"queue {queue.name} is built into Koordinator: it is not written"


def _minimum_notices(nodes: Mapping[str, _Node], minima: Mapping[str, Amounts]) -> Iterator[str]:
    """About minimums that differ from what the queue is due."""
    for name, node in nodes.items():
        for resource, due in node.due.items():
            have = minima[name][resource]
            texts = amount_text(resource, due), amount_text(resource, have)
            if have > due:
                yield (
                    f"queue {name} is due {texts[0]} {resource}, but its children {texts[1]} in total: its "
                    f"minimum is {texts[1]}, since Koordinator refuses children whose minimums add up to more"
                )
            elif have < due:
                yield (
                    f"queue {name} is due {texts[0]} {resource}, but its parents have less: its minimum is "
                    f"{texts[1]}"
                )
        if any(node.guarantee.values()) and lends(minima[name], node.guarantee):
            yield (
                f"queue {name} has a guarantee and is due more: an ElasticQuota has a single minimum, "
                "which is lent as a whole while unused. State the guarantee alone so that it is not lent"
            )


def _weight(resource: str, weight: int) -> int:
    """In the unit of amounts, so that the same number is written for every resource."""
    return weight * 1000 if resource == "cpu" else weight


def _names(wanted: Amounts) -> tuple[str, ...]:
    return tuple(sorted(wanted))


def _larger(one: Amounts, other: Amounts) -> dict[str, int]:
    return {r: max(one.get(r, 0), other.get(r, 0)) for r in sorted({*one, *other})}


def _capped(wanted: Amounts, maximum: Amounts) -> dict[str, int]:
    return {resource: min(amount, maximum[resource]) for resource, amount in wanted.items()}


def _sum(many: Iterable[Amounts]) -> dict[str, int]:
    total: dict[str, int] = {}
    for each in many:
        for resource, amount in each.items():
            total[resource] = total.get(resource, 0) + amount
    return total


def _with_tenants(quota: ElasticQuota, tenants: Mapping[str, tuple[str, ...]]) -> ElasticQuota:
    namespaces = tuple(namespace for of in tenants.values() for namespace in of)
    return quota._replace(namespaces=namespaces, tenants=tenants)
