"""What was found in the files given: nodes, queues, tenants, placements, schedulers, generated pools."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from policykit.model.gang import GangRule
from policykit.model.placement import Placement
from policykit.model.pool import Amounts
from policykit.model.queue import Preemption, Priority, Queue, Quota
from policykit.model.taint import Taint, Toleration
from policykit.model.tenant import Reservation, Tenant
from policykit.model.workload import WorkloadKind
from policykit.targets.volcano.objects.topology import Bound


class Node(NamedTuple):
    """A Node object, as far as a policy can speak of it."""

    name: str
    labels: Mapping[str, str]
    taints: tuple[Taint, ...] = ()
    allocatable: Amounts = {}
    """Empty: the node has not reported any."""
    capacity: Amounts = {}
    cordoned: bool = False
    kubelet: str = ""
    """Version of its kubelet: v1.36.2."""


class Described(NamedTuple):
    """A pool as generated files describe it."""

    name: str
    labels: Mapping[str, str] = {}
    taints: tuple[Taint, ...] = ()
    minimum: int = 0
    maximum: int | None = None
    """With minimum 0: nobody said how many there are, or there is no bound."""
    names: tuple[str, ...] = ()
    selector: Mapping[str, str] = {}
    own_labels: Mapping[str, Mapping[str, str]] = {}
    """Node name to the labels it has beside the pool's."""


class Component(NamedTuple):
    """The placement of a workload kind for one card, as a generated component patches it in."""

    workload: str
    card: str
    """Name of the card in the policy; empty: for its helpers."""
    required: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """(node label key, values) of the required expressions."""
    preferred: tuple[tuple[int, str, str], ...] = ()
    """(weight, node label key, value)."""
    tolerations: tuple[Toleration, ...] = ()
    scheduler: str = ""
    priority_class: str = ""
    queue: str = ""
    gang: bool = False
    """Its pods are a gang, which `policykit patch` declares."""
    apart: tuple[tuple[str, bool, int], ...] = ()
    """(node label key, hard, largest difference) of its topologySpreadConstraints."""
    close: tuple[str, bool] | None = None
    """(node label key, hard) of the affinity to the pods of its own job."""
    bound: Bound | None = None
    """How far apart Volcano lets the pods of a job stand."""
    gang_rule: GangRule | None = None
    """What its pods' gang is, beyond all of them."""


class Found:
    """Collects what the files say; the first word on a name wins."""

    def __init__(self) -> None:
        self.policy = ""
        """Name of the policy that generated files were made from."""
        self.provider = ""
        self.nodes: dict[str, Node] = {}
        self.described: tuple[Described, ...] = ()
        self.control_plane: Taint | None = None
        """Taint that generated files give the control plane."""
        self.components: list[Component] = []
        self.queues: dict[str, Queue] = {}
        self.elastic: dict[str, Queue] = {}
        """Queues as ElasticQuotas have them: another system that has one of them says more of it."""
        self.stated: set[str] = set()
        """Queues whose ElasticQuota names the resources that the policy states."""
        self.lesser: set[str] = set()
        """Queues of which only YuniKorn has spoken, which has one promise and no weight."""
        self.priorities: dict[str, Priority] = {}
        self.quotas: dict[str, Quota] = {}
        self.tenants: dict[str, Tenant] = {}
        self.sent: list[Tenant] = []
        """Tenants whose queue is a path in YuniKorn's tree, not yet a queue of the policy."""
        self.reservations: dict[str, Reservation] = {}
        self.placements: dict[str, Placement] = {}
        self.preemption = Preemption()
        self.levels: dict[str, str] = {}
        """Level of the topology to its node label key."""
        self.release = ""
        """Release of Kubernetes that generated files, or the image of a scheduler, name: 1.36."""
        self.levels_whole = False
        """Generated files say every level there is."""
        self.kinds: dict[str, WorkloadKind] = {}
        """What is said of a workload kind beside its placement on nodes; fields left as they are: nothing."""
        self.targets: dict[str, dict[str, Any]] = {}
        """System to what the policy says of it: version, delivery, namespace, schedulerName, options."""
        self.volcano: Mapping[str, Any] | None = None
        """Volcano's scheduler configuration."""
        self.koordinator: Mapping[str, Any] | None = None
        """Configuration of koord-scheduler."""
        self.schedulers: dict[str, None] = {}
        self.passed_over: dict[str, int] = {}
        """Kind of object that says nothing to a policy, to how many there were."""
        self.remarks: list[str] = []
        """What a policy cannot say, for people."""

    def say(self, remark: str) -> None:
        if remark not in self.remarks:
            self.remarks.append(remark)

    def add_queue(self, queue: Queue) -> None:
        if queue.name in self.lesser:
            self.lesser.remove(queue.name)
            queue = _more(queue, self.queues.pop(queue.name))
        self._once("queue", self.queues, queue.name, queue)

    def add_priority(self, priority: Priority) -> None:
        self._once("PriorityClass", self.priorities, priority.name, priority)

    def add_quota(self, quota: Quota) -> None:
        there = self.quotas.get(quota.name)
        if there is not None and there.namespace != quota.namespace:
            self.say(
                f"ResourceQuota {quota.namespace}/{quota.name}: quotas of a policy have names of their own, "
                f"and {there.namespace}/{quota.name} has this one; left out"
            )
            return
        self._once("ResourceQuota", self.quotas, quota.name, quota)

    def add_reservation(self, reservation: Reservation) -> None:
        self._once("reservation", self.reservations, reservation.name, reservation)

    def add_placement(self, placement: Placement) -> None:
        self._once("placement", self.placements, placement.name, placement)

    def add_level(self, level: str, key: str) -> None:
        """A level of the topology, by the node label that tells it."""
        self._once("topology level", self.levels, level, key)

    def add_tenant(self, tenant: Tenant) -> None:
        """A tenant, or more of one: namespaces and people add up, the queue is the first one said."""
        there = self.tenants.get(tenant.name, Tenant(tenant.name))
        if there.queue and tenant.queue and there.queue != tenant.queue:
            self.say(
                f"tenant {tenant.name} has queue {there.queue} and queue {tenant.queue}; the first is taken"
            )
        self.tenants[tenant.name] = Tenant(
            tenant.name,
            _joined(there.namespaces, tenant.namespaces),
            there.queue or tenant.queue,
            _joined(there.users, tenant.users),
            _joined(there.groups, tenant.groups),
        )

    def add_kind(self, kind: WorkloadKind) -> None:
        """What is said of a workload kind, field by field; fields that have their default say nothing."""
        there = self.kinds.setdefault(kind.name, WorkloadKind(kind.name))
        said = {
            field: value
            for field, value in kind._asdict().items()
            if value != WorkloadKind._field_defaults.get(field) and field != "name"
        }
        for field, value in said.items():
            before = getattr(there, field)
            if before not in (WorkloadKind._field_defaults.get(field), value):
                self.say(
                    f"{field.replace('_', ' ')} of workload kind {kind.name} is given more than once, "
                    "in different words; the first is taken"
                )
                said = {**said, field: before}
        self.kinds[kind.name] = there._replace(**said)

    def option(self, target: str, key: str, value: Any) -> None:
        """An option of a system as the policy has it: key in camelCase, plain data. Maps add up."""
        known = self.targets.setdefault(target, {})
        there = known.get(key)
        if isinstance(there, Mapping) and isinstance(value, Mapping):
            known[key] = {**value, **there}
        else:
            known.setdefault(key, value)

    def target(self, name: str, **says: Any) -> None:
        """Notes a system in play; what is empty says nothing."""
        known = self.targets.setdefault(name, {})
        for key, value in says.items():
            if value and not known.get(key):
                known[key] = value

    def _once(self, what: str, there: dict[str, Any], name: str, value: object) -> None:
        if name and there.setdefault(name, value) != value:
            self.say(f"{what} {name} is given more than once, in different words; the first is taken")


def _more(queue: Queue, lesser: Queue) -> Queue:
    """A queue with what only the system says that otherwise says less of it."""
    return queue._replace(
        priority=lesser.priority if queue.priority is None else queue.priority,
        reclaimable=queue.reclaimable and lesser.reclaimable,
        submit=queue.submit or lesser.submit,
    )


def _joined(one: tuple[str, ...], other: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*one, *other)))
