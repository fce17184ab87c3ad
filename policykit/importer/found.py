"""What was found in the files given: nodes, queues, priorities, schedulers, generated pools."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from policykit.model.pool import Amounts
from policykit.model.queue import Priority, Queue, Quota
from policykit.model.taint import Taint, Toleration


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
        self.priorities: dict[str, Priority] = {}
        self.quotas: dict[str, Quota] = {}
        self.targets: dict[str, dict[str, Any]] = {}
        """System to what the policy says of it: version, delivery, namespace, schedulerName, ..."""
        self.volcano: Mapping[str, Any] | None = None
        """Volcano's scheduler configuration."""
        self.schedulers: dict[str, None] = {}
        self.passed_over: dict[str, int] = {}
        """Kind of object that says nothing to a policy, to how many there were."""
        self.remarks: list[str] = []
        """What a policy cannot say, for people."""

    def say(self, remark: str) -> None:
        if remark not in self.remarks:
            self.remarks.append(remark)

    def add_queue(self, queue: Queue) -> None:
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

    def target(self, name: str, **says: Any) -> None:
        """Notes a system in play; what is empty says nothing."""
        known = self.targets.setdefault(name, {})
        for key, value in says.items():
            if value and not known.get(key):
                known[key] = value

    def _once(self, what: str, there: dict[str, Any], name: str, value: object) -> None:
        if name and there.setdefault(name, value) != value:
            self.say(f"{what} {name} is given more than once, in different words; the first is taken")
