"""What `policykit import` has read: nodes, queues, tenants, placements, schedulers, generated pools."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policykit.model.gang import GangRule
from policykit.model.pool import Amounts, Taint, Toleration
from policykit.model.queue import Preemption, Priority, Queue, Quota, Reservation, Tenant
from policykit.model.shared_cards import VirtualCards
from policykit.model.workload import Placement, WorkloadKind
from policykit.namedtuple import NamedTuple


class Node(NamedTuple):
    """The part of a Node object that matters to a policy."""

    name: str
    labels: Mapping[str, str]
    taints: tuple[Taint, ...] = ()
    allocatable: Amounts = {}
    """Empty: the node has not reported any."""
    capacity: Amounts = {}
    cordoned: bool = False
    kubelet: str = ""
    """Kubelet version: v1.36.2."""
    virtual: VirtualCards | None = None
    """Its cards, if HAMi or Volcano shares them."""


class GeneratedPool(NamedTuple):
    """A pool described by generated files."""

    name: str
    labels: Mapping[str, str] = {}
    taints: tuple[Taint, ...] = ()
    minimum: int = 0
    maximum: int | None = None
    """None: no bound; with minimum 0 perhaps unknown."""
    names: tuple[str, ...] = ()
    selector: Mapping[str, str] = {}
    labels_by_node: Mapping[str, Mapping[str, str]] = {}
    """Node name to its labels other than the pool's."""


class LevelBound(NamedTuple):
    """The topology level that the pods of a job stay within: named by one of three fields."""

    hard: bool
    key: str = ""
    """Node label key of the level."""
    level: str = ""
    number: int | None = None
    """Number of the level, counted from the narrowest one of the policy."""


class Component(NamedTuple):
    """The placement of a workload kind on one card, from a generated kustomize component."""

    workload: str
    card: str
    """Name of the card in the policy; empty: for helper pods."""
    required: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """(node label key, values) of the required node affinity."""
    preferred: tuple[tuple[int, str, str], ...] = ()
    """(weight, node label key, value) of the preferred node affinity."""
    tolerations: tuple[Toleration, ...] = ()
    scheduler: str = ""
    priority_class: str = ""
    queue: str = ""
    gang: bool = False
    """Its pods are a gang; `policykit patch` sets its size."""
    spread: tuple[tuple[str, bool, int], ...] = ()
    """(node label key, hard, maxSkew) of its topologySpreadConstraints."""
    within: LevelBound | None = None
    gang_rule: GangRule | None = None
    """Settings of the gang, if it has any."""


class Inventory:
    """Collects the contents of the files. The first definition of a name wins."""

    def __init__(self) -> None:
        self.policy = ""
        """Name of the policy in the header of generated files."""
        self.provider = ""
        self.nodes: dict[str, Node] = {}
        self.generated: tuple[GeneratedPool, ...] = ()
        self.control_plane: Taint | None = None
        """Control plane taint in generated files."""
        self.components: list[Component] = []
        self.queues: dict[str, Queue] = {}
        self.partial_queues: set[str] = set()
        """Queues known only from a system without weights: another definition replaces them."""
        self.priorities: dict[str, Priority] = {}
        self.quotas: dict[str, Quota] = {}
        self.tenants: dict[str, Tenant] = {}
        self.reservations: dict[str, Reservation] = {}
        self.placements: dict[str, Placement] = {}
        self.preemption = Preemption()
        self.levels: dict[str, str] = {}
        """Level of the topology to its node label key."""
        self.release = ""
        """Kubernetes release in generated files or in the image of a scheduler: 1.36."""
        self.levels_complete = False
        """`levels` is complete: generated files list every level."""
        self.kinds: dict[str, WorkloadKind] = {}
        """Settings of workload kinds other than node placement; fields with their default are unknown."""
        self.targets: dict[str, dict[str, Any]] = {}
        """System to its fields in the policy: version, delivery, namespace, schedulerName, options."""
        self.schedulers: dict[str, None] = {}
        self.ignored_kinds: dict[str, int] = {}
        """Number of objects by kind that a policy has no use for."""
        self.remarks: list[str] = []
        """What the policy cannot express, for the user."""

    def add_remark(self, remark: str) -> None:
        """Adds a remark, once."""
        if remark not in self.remarks:
            self.remarks.append(remark)

    def add_queue(self, queue: Queue) -> None:
        if queue.name in self.partial_queues:
            self.partial_queues.remove(queue.name)
            queue = _merged(queue, self.queues.pop(queue.name))
        self._once("queue", self.queues, queue.name, queue)

    def add_priority(self, priority: Priority) -> None:
        self._once("PriorityClass", self.priorities, priority.name, priority)

    def add_quota(self, quota: Quota) -> None:
        there = self.quotas.get(quota.name)
        if there is not None and there.namespace != quota.namespace:
            self.add_remark(
                f"ResourceQuota {quota.namespace}/{quota.name}: quota names in a policy are unique, "
                f"and {there.namespace}/{quota.name} has the same name; left out"
            )
            return
        self._once("ResourceQuota", self.quotas, quota.name, quota)

    def add_reservation(self, reservation: Reservation) -> None:
        self._once("reservation", self.reservations, reservation.name, reservation)

    def add_placement(self, placement: Placement) -> None:
        self._once("placement", self.placements, placement.name, placement)

    def add_level(self, level: str, key: str) -> None:
        """A level of the topology, with its node label key."""
        self._once("topology level", self.levels, level, key)

    def add_tenant(self, tenant: Tenant) -> None:
        """A tenant, or more of one: namespaces, users and groups add up; the first queue wins."""
        there = self.tenants.get(tenant.name, Tenant(tenant.name))
        if there.queue and tenant.queue and there.queue != tenant.queue:
            self.add_remark(
                f"tenant {tenant.name} has queues {there.queue} and {tenant.queue}; the first one is used"
            )
        self.tenants[tenant.name] = Tenant(
            tenant.name,
            _joined(there.namespaces, tenant.namespaces),
            there.queue or tenant.queue,
            _joined(there.users, tenant.users),
            _joined(there.groups, tenant.groups),
        )

    def add_kind(self, kind: WorkloadKind) -> None:
        """Settings of a workload kind. Fields with their default are ignored."""
        there = self.kinds.setdefault(kind.name, WorkloadKind(kind.name))
        stated = {
            field: value
            for field, value in kind._asdict().items()
            if value != WorkloadKind._field_defaults.get(field) and field != "name"
        }
        for field, value in stated.items():
            before = getattr(there, field)
            if before not in (WorkloadKind._field_defaults.get(field), value):
                self.add_remark(
                    f"{field.replace('_', ' ')} of workload kind {kind.name} is defined more than once "
                    "with different values; the first one is used"
                )
                stated = {**stated, field: before}
        self.kinds[kind.name] = there._replace(**stated)

    def option(self, target: str, key: str, value: Any) -> None:
        """An option of a system in the form of the policy: key in camelCase, plain data. Maps are merged."""
        known = self.targets.setdefault(target, {})
        there = known.get(key)
        if isinstance(there, Mapping) and isinstance(value, Mapping):
            known[key] = {**value, **there}
        else:
            known.setdefault(key, value)

    def target(self, name: str, **fields: Any) -> None:
        """Adds a system; empty fields are ignored."""
        known = self.targets.setdefault(name, {})
        for key, value in fields.items():
            if value and not known.get(key):
                known[key] = value

    def _once(self, what: str, there: dict[str, Any], name: str, value: object) -> None:
        if name and there.setdefault(name, value) != value:
            self.add_remark(
                f"{what} {name} is defined more than once with different contents; the first one is used"
            )


def _merged(queue: Queue, other: Queue) -> Queue:
    """A queue with the fields that only the other definition states."""
    return queue._replace(
        priority=other.priority if queue.priority is None else queue.priority,
        reclaimable=queue.reclaimable and other.reclaimable,
        submit=queue.submit or other.submit,
    )


def _joined(one: tuple[str, ...], other: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*one, *other)))
