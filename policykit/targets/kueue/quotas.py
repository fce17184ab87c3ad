"""The policy's queues as ClusterQueues and Cohorts, with quotas by flavor.

A queue becomes a ClusterQueue, and a queue with children a Cohort; one with both children and users
becomes both, under one name. Its nominalQuota is what it deserves, or else its guarantee. It keeps
its guarantee, so others may borrow the rest (lendingLimit), and it may itself borrow up to its limit
(borrowingLimit). Of resources that it does not state, it gets the same share as of those it does. The
root cohort has what no queue deserves.
Source: `pkg/cache/scheduler/resource_node.go` (0.19).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cached_property

from policykit.errors import PolicykitError
from policykit.model.cluster import Cluster
from policykit.model.quantity import amount_text
from policykit.model.queue import Queue
from policykit.model.release import Version
from policykit.namedtuple import NamedTuple
from policykit.targets.kueue import tenancy, versions
from policykit.targets.kueue.flavors import Capacity, PoolFlavor, flavor_capacity
from policykit.targets.kueue.objects.queues import ClusterQueue, Cohort, Fungibility, Preemption
from policykit.targets.kueue.objects.resource_flavors import Quota, ResourceGroup, StatedResources
from policykit.targets.kueue.options import KueueOptions

_GROUP_SIZE, _GROUP_SIZE_BEFORE = 64, 16
_OLD_FUNGIBILITY = {"when_can_borrow": "Borrow", "when_can_preempt": "Preempt"}
"""Names of MayStopSearch before 0.15."""
_STOP = "MayStopSearch"
_UNITS = {"cpu": 1000, "memory": 1 << 30, "ephemeral-storage": 1 << 30}
"""Resources that are divided into whole cores and GiB."""


class Quotas(NamedTuple):
    """ClusterQueues and Cohorts, in the policy's order, the root cohort first."""

    queues: tuple[ClusterQueue, ...]
    cohorts: tuple[Cohort, ...]
    notices: tuple[str, ...] = ()


def quotas(
    cluster: Cluster, flavors: Sequence[PoolFlavor], options: KueueOptions, version: Version
) -> Quotas:
    """Quotas of the policy's queues.

    Raises PolicykitError for a queue that may use no pool, and for more flavors than the release allows."""
    if not cluster.queues:
        return Quotas((), ())
    tree = _Tree(cluster, flavors, options, version)
    tree.check_sizes()
    return Quotas(tuple(tree.cluster_queues()), tuple(tree.cohorts()), tuple(tree.notices()))


class _Tree:
    """The queues with their quotas, by flavor and resource."""

    def __init__(
        self, cluster: Cluster, flavors: Sequence[PoolFlavor], options: KueueOptions, version: Version
    ) -> None:
        self._cluster = cluster
        self._options = options
        self._version = version
        self._capacity: Capacity = flavor_capacity(cluster, flavors)
        self._queues: Mapping[str, Queue] = {queue.name: queue for queue in cluster.queues}
        self._children: dict[str, list[str]] = {}
        for queue in cluster.queues:
            self._children.setdefault(queue.parent, []).append(queue.name)
        self._users = tenancy.namespaces(cluster)
        by_pool = {pool.name: each.flavor.name for each in flavors for pool in each.pools}
        self._flavors: dict[str, tuple[str, ...]] = {}
        for name in self._bottom_up():
            below = (flavor for child in self._children.get(name, ()) for flavor in self._flavors[child])
            self._flavors[name] = tuple(dict.fromkeys((*self._allowed(self._queues[name], by_pool), *below)))

    def check_sizes(self) -> None:
        """Raises PolicykitError for more flavors or resources than a resource group may have."""
        large = self._version >= versions.LARGE_GROUPS
        most = _GROUP_SIZE if large else _GROUP_SIZE_BEFORE
        sizes = {"flavors": len(self._capacity.flavors), "resources": len(self._capacity.resources)}
        for what, number in sizes.items():
            if number > most:
                raise PolicykitError(
                    f"the queues share {number} {what}, but Kueue {self._version} allows {most}",
                    "give fewer pools labels of their own" if what == "flavors" else "state fewer resources",
                    path=("targets", "kueue"),
                )

    def cluster_queues(self) -> Iterator[ClusterQueue]:
        for name, queue in self._queues.items():
            inner = name in self._children
            if inner and name not in self._users:
                continue
            yield ClusterQueue(
                name,
                self._groups(self._flavors[name], {} if inner else self._of(name)),
                name if inner else queue.parent or self._options.root_cohort,
                self._users.get(name),
                self._options.queueing_strategy,
                self._preemption(),
                self._fungibility(),
                self._weight(queue) if not inner else None,
                None if inner else _stated(queue),
            )

    def cohorts(self) -> Iterator[Cohort]:
        root = self._options.root_cohort
        rest = self._rest()
        spare = any(quota.nominal for quota in rest.values())
        yield Cohort(root, groups=self._groups(tuple(self._capacity.flavors), rest) if spare else ())
        for name in self._queues:
            if name in self._children:
                queue = self._queues[name]
                weighted = self._version >= versions.COHORT_FAIR_SHARING
                yield Cohort(
                    name,
                    queue.parent or root,
                    self._groups(self._flavors[name], self._of(name)) if _states_quota(queue) else (),
                    self._weight(queue) if weighted else None,
                    _stated(queue),
                )

    def notices(self) -> Iterator[str]:
        yield from self._split_amounts()
        yield from self._unknown_amounts()
        yield from self._uncovered()

    def _groups(
        self, flavors: Sequence[str], found: Mapping[tuple[str, str], Quota]
    ) -> tuple[ResourceGroup, ...]:
        """One group, since a pod set gets all its resources from one pool, and so from one flavor."""
        resources = self._capacity.resources
        if not resources or not flavors:
            return ()
        return (
            ResourceGroup(
                resources,
                {
                    flavor: {resource: found.get((flavor, resource), Quota()) for resource in resources}
                    for flavor in flavors
                },
            ),
        )

    def _of(self, name: str) -> dict[tuple[str, str], Quota]:
        """(flavor, resource) to the quota of a queue."""
        queue = self._queues[name]
        found: dict[tuple[str, str], Quota] = {}
        for resource in self._capacity.resources:
            own, total = self._own[name, resource], self._total[name, resource]
            kept = self._capacity.shares(queue.guarantee.get(resource, 0), resource, self._flavors[name])
            limit = queue.limit.get(resource)
            for flavor in self._flavors[name]:
                there = total.get(flavor, 0)
                found[flavor, resource] = Quota(
                    own.get(flavor, 0),
                    None if limit is None or not self._has(flavor, resource) else max(limit - there, 0),
                    max(there - kept[flavor], 0) if kept[flavor] else None,
                )
        return found

    def _rest(self) -> dict[tuple[str, str], Quota]:
        """The quota that all queues share: what none deserves, or the sum of limits if that is unknown."""
        found: dict[tuple[str, str], Quota] = {}
        for flavor, amounts in self._capacity.flavors.items():
            for resource, amount in amounts.items():
                given = sum(self._total[top, resource].get(flavor, 0) for top in self._children.get("", ()))
                known = self._wanted(flavor, resource) if amount is None else amount - given
                found[flavor, resource] = Quota(max(known, 0))
        return found

    def _wanted(self, flavor: str, resource: str) -> int:
        """The sum of what the queues' limits allow beyond their quotas."""
        found = 0
        for name, queue in self._queues.items():
            limit = queue.limit.get(resource)
            if name not in self._children and flavor in self._flavors[name] and limit is not None:
                found += max(limit - self._total[name, resource].get(flavor, 0), 0)
        return found

    @cached_property
    def _own(self) -> dict[tuple[str, str], dict[str, int]]:
        """(queue, resource) to flavor to nominalQuota; for a parent, what its children leave."""
        return {
            key: {
                flavor: amount
                - sum(self._total[child, key[1]].get(flavor, 0) for child in self._children.get(key[0], ()))
                for flavor, amount in total.items()
            }
            for key, total in self._total.items()
        }

    @cached_property
    def _total(self) -> dict[tuple[str, str], dict[str, int]]:
        """(queue, resource) to flavor to the quota of a queue and all queues below it."""
        found: dict[tuple[str, str], dict[str, int]] = {}
        for name in self._bottom_up():
            queue = self._queues[name]
            due = {
                resource: max(queue.deserved.get(resource, 0), queue.guarantee.get(resource, 0))
                for resource in (*queue.deserved, *queue.guarantee)
            }
            own: dict[str, dict[str, int]] = {}
            for resource, amount in due.items():
                below = self._below(name, resource, found)
                left = min(amount, queue.limit.get(resource, amount)) - sum(below.values())
                own[resource] = self._capacity.shares(max(left, 0), resource, self._flavors[name])
                found[name, resource] = {flavor: below[flavor] + own[resource][flavor] for flavor in below}
            for resource in self._capacity.resources:
                if resource not in due:
                    found[name, resource] = {
                        flavor: amount + self._part(queue, flavor, resource, own)
                        for flavor, amount in self._below(name, resource, found).items()
                    }
        return found

    def _below(
        self, name: str, resource: str, found: Mapping[tuple[str, str], Mapping[str, int]]
    ) -> dict[str, int]:
        """Flavor to the total of the children."""
        return {
            flavor: sum(found[child, resource].get(flavor, 0) for child in self._children.get(name, ()))
            for flavor in self._flavors[name]
        }

    def _part(self, queue: Queue, flavor: str, resource: str, own: Mapping[str, Mapping[str, int]]) -> int:
        """The same share of a resource that it does not state as of the one it has the largest share of.

        Without a quota its workloads would borrow, and workloads that borrow cannot reclaim.
        """
        there = self._capacity.flavors[flavor]
        parts = (Fraction(amounts[flavor], there[name] or 1) for name, amounts in own.items() if there[name])
        portion = min(max(parts, default=Fraction(0)), Fraction(1))
        unit = _UNITS.get(resource, 1)
        amount = int((there[resource] or 0) * portion) // unit * unit
        return min(amount, queue.limit.get(resource, amount))

    def _bottom_up(self) -> list[str]:
        order = list(self._children.get("", ()))
        for name in order:
            order.extend(self._children.get(name, ()))
        return order[::-1]

    def _has(self, flavor: str, resource: str) -> bool:
        return self._capacity.flavors[flavor].get(resource) != 0

    def _allowed(self, queue: Queue, by_pool: Mapping[str, str]) -> tuple[str, ...]:
        """Flavors of the pools that a queue may use, preferred ones first and avoided ones last.

        A queue that names no pools gets those of the nearest queue above.
        """
        here: Queue | None = queue
        while here is not None and not (here.pools and any(here.pools)):
            here = self._queues.get(here.parent)
        if here is None or here.pools is None:
            return tuple(dict.fromkeys(by_pool.values()))
        pools = here.pools
        names = [name for name in pools.required or by_pool if name in by_pool and name not in pools.excluded]
        if not names:
            raise PolicykitError(
                f"queue {queue.name} may use no pool: all of them are excluded",
                "exclude fewer pools",
                path=("queues", here.name, "pools"),
            )
        rank = dict.fromkeys(pools.preferred, -1) | dict.fromkeys(pools.avoided, 1)
        return tuple(dict.fromkeys(by_pool[name] for name in sorted(names, key=lambda n: rank.get(n, 0))))

    def _preemption(self) -> Preemption:
        stated, options = self._cluster.preemption, self._options
        return Preemption(
            "LowerPriority" if stated.within_queue else "",
            "Any" if stated.reclaim else "",
            "LowerPriority" if options.borrow_within_cohort else "",
            options.borrow_threshold,
        )

    def _fungibility(self) -> Fungibility:
        chosen = {
            field: getattr(self._options, field)
            for field in ("when_can_borrow", "when_can_preempt", "preference")
        }
        if self._version < versions.FUNGIBILITY_PREFERENCE:
            chosen |= {field: old for field, old in _OLD_FUNGIBILITY.items() if chosen[field] == _STOP}
        return Fungibility(**chosen)

    def _weight(self, queue: Queue) -> int | None:
        return queue.weight if self._options.fair_sharing else None

    def _split_amounts(self) -> Iterator[str]:
        """Notices about limits: a queue's is for all its pools together, a borrowingLimit for each flavor."""
        for name, queue in self._queues.items():
            for resource, limit in queue.limit.items():
                several = [flavor for flavor in self._flavors[name] if self._has(flavor, resource)]
                if len(several) > 1:
                    yield (
                        f"queue {name}: Kueue counts limits by flavor, so it may use "
                        f"{amount_text(resource, limit)} {resource} in each of {', '.join(several)}. "
                        "Nearest: pools of the queue"
                    )

    def _unknown_amounts(self) -> Iterator[str]:
        unbounded = {
            resource
            for name, queue in self._queues.items()
            if name not in self._children
            for resource in self._capacity.resources
            if not self._limited(queue, resource)
        }
        for flavor, amounts in self._capacity.flavors.items():
            unknown = [name for name, amount in amounts.items() if amount is None and name in unbounded]
            if unknown:
                yield (
                    f"flavor {flavor}: how much {', '.join(unknown)} its nodes have is unknown, so queues "
                    "without a limit have only what they deserve. Set allocatable and the number of nodes, "
                    "or limits"
                )

    def _limited(self, queue: Queue, resource: str) -> bool:
        above: Queue | None = queue
        while above is not None:
            if resource in above.limit:
                return True
            above = self._queues.get(above.parent)
        return False

    def _uncovered(self) -> Iterator[str]:
        absent = [name for name in ("cpu", "memory") if name not in self._capacity.resources]
        if absent:
            yield (
                f"{' and '.join(absent)}: no queue and no pool states an amount, so no quota covers it, and "
                "Kueue admits no workload that requests it. Set allocatable on the pools, or list it in "
                "resources.excludeResourcePrefixes of Kueue's Configuration"
            )


def _states_quota(queue: Queue) -> bool:
    """Whether a queue with children states quotas or pools."""
    return any(_stated(queue)) or bool(queue.pools and any(queue.pools))


def _stated(queue: Queue) -> StatedResources:
    return StatedResources(
        *(tuple(sorted(amounts)) for amounts in (queue.guarantee, queue.deserved, queue.limit))
    )
