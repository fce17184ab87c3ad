"""Whether the queue that pods name admits them, or a whole gang."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from policykit.gates import ACCEPTED, REFUSED, UNKNOWN, Gate
from policykit.kube.placeholders import is_placeholder
from policykit.linter.scope import Scope
from policykit.model.declared_queues import DeclaredQueue, QueueUse
from policykit.model.pool import Amounts
from policykit.model.quantity import amount_text
from policykit.namedtuple import NamedTuple
from policykit.targets.facts import queue_trees
from policykit.targets.facts.queue_trees import CLOSED, FOUND, HOLDS, NOWHERE, Destination, Directory

if TYPE_CHECKING:
    from policykit.model.cluster import Cluster

_GATE = "queue"


class Limit(NamedTuple):
    """The most that a queue may use."""

    queue: str
    amounts: Amounts


class UncoveredResource(NamedTuple):
    """A resource that a queue does not serve."""

    queue: str
    resource: str


class QueueExcess(NamedTuple):
    """A request above the limit of a queue."""

    use: QueueUse
    limit: Limit
    resource: str

    @property
    def message(self) -> str:
        alone = f"PodGroup {self.use.group}" if self.use.group else "one pod"
        gang = "the workload" if self.use.whole else "the gang"
        pods = f"{gang} of {self.use.gang} pods" if (self.use.gang or 0) > 1 else alone
        asked = amount_text(self.resource, self.use.request[self.resource])
        allowed = amount_text(self.resource, self.limit.amounts[self.resource])
        return (
            f"{pods} requests {asked} {self.resource}, but queue {self.limit.queue} may use at most {allowed}"
        )


class Queues:
    """The queues of a scope and of the policy, with the trees that declare them."""

    def __init__(self, scope: Scope, cluster: Cluster | None) -> None:
        self._scope = scope
        self._cluster = cluster
        self._directories: dict[str, Directory] = {}
        self._trees: dict[str, queue_trees.Tree | None] | None = None
        """Of each target the tree that documents declare; None: there are several."""

    def directory(self, target_name: str) -> Directory:
        found = self._directories.get(target_name)
        if found is None:
            found = queue_trees.directory(target_name, self._scope, self._cluster)
            self._directories[target_name] = found
        return found

    def destination(self, use: QueueUse) -> Destination | None:
        """None: nothing is known about the queue."""
        return queue_trees.destination(use, self.directory(use.target_name))

    def may_hold(self, name: str) -> bool:
        """Whether a document that cannot be interpreted may define a queue."""
        # A file of queues names each level by itself.
        last = name.rpartition("/")[2]
        return any(map(self._scope.may_hold, (name, last, last.rpartition(".")[2])))

    def limits(self, use: QueueUse) -> tuple[Limit, ...]:
        """Every limit from the queue up that is known; none if it does not take the pods."""
        found = self.destination(use)
        if found is None or found.verdict != FOUND:
            return ()
        declared = self._declared(found.queue, use.target_name)
        return (*declared, *self._planned(found.queue, use.target_name))

    def excess(self, use: QueueUse) -> QueueExcess | None:
        """The first resource that exceeds some limit, cards first."""
        limits = self.limits(use)
        for resource in sorted(use.request, key=lambda name: ("/" not in name, name)):
            for limit in limits:
                allowed = limit.amounts.get(resource)
                if allowed is not None and use.request[resource] > allowed:
                    return QueueExcess(use, limit, resource)
        return None

    def uncovered(self, use: QueueUse) -> UncoveredResource | None:
        """The first resource that the queue, or one above it, takes no pods for."""
        found = self.destination(use)
        if found is None or found.verdict != FOUND:
            return None
        asked = sorted(name for name, amount in use.request.items() if amount > 0)
        for queue in self._above(found.queue, use.target_name):
            for name in asked if queue.serves and not any(map(is_placeholder, queue.serves)) else ():
                if name not in queue.serves:
                    return UncoveredResource(f"{queue.noun} {queue.name}".strip(), name)
        return None

    def _declared(self, queue: str, target_name: str) -> Iterator[Limit]:
        """Limits of queues that documents declare."""
        for one in self._above(queue, target_name):
            if one.measured:
                yield Limit(one.name, one.limit)

    def _above(self, queue: str, target_name: str) -> Iterator[DeclaredQueue]:
        """A queue that documents declare, and those above; none if two do, or if they are of two clusters."""
        if self._trees is None:
            self._trees = {}
            for each in queue_trees.trees(self._scope, self._cluster, configurations=True):
                self._trees[each.target_name] = None if each.target_name in self._trees else each
        tree = self._trees.get(target_name)
        there = tree.named(queue) if tree else ()
        if tree and len(there) == 1 and not there[0].partial:
            yield from (one.value for one in (there[0], *tree.above(there[0])) if not one.partial)

    def _planned(self, queue: str, target_name: str) -> Iterator[Limit]:
        """Limits of the policy's queues, under the system's own names."""
        planned = queue_trees.policy_queues(target_name, self._cluster)
        if self._cluster is None or queue not in planned.queues:
            return
        queues = {each.name: each for each in self._cluster.queues}
        name, seen = planned.policy_names.get(queue, queue), set[str]()
        while name in queues and name not in seen:
            seen.add(name)
            yield Limit(name, queues[name].limit)
            name = queues[name].parent


def gates(uses: Sequence[QueueUse], queues: Queues) -> Iterator[Gate]:
    """One for each queue that the pods name."""
    for use in uses:
        if not is_placeholder(use.queue):
            yield _gate(use, queues)


def _gate(use: QueueUse, queues: Queues) -> Gate:
    known, found = queues.directory(use.target_name), queues.destination(use)
    semantics = known.semantics
    name = f"{semantics.noun} {found.queue if found else use.queue}"
    if found is None or found.verdict not in (FOUND, HOLDS, CLOSED, NOWHERE):
        return Gate(_GATE, UNKNOWN, f"the files do not say where {name} puts the pods")
    if found.verdict == NOWHERE:
        # Where neither the policy nor a likely name says so, another repository may define the queue.
        certain = known.policy.queues or queue_trees.is_misspelt(use, found, known)
        if certain and known.proves_absence and not queues.may_hold(found.queue):
            return Gate(_GATE, REFUSED, f"{name} does not exist: {semantics.unknown_fault}")
        return Gate(_GATE, UNKNOWN, f"no file here defines {name}")
    if found.verdict == HOLDS:
        return Gate(_GATE, REFUSED, f"{name} has child queues: {semantics.submit_fault}")
    if found.verdict == CLOSED:
        return Gate(_GATE, REFUSED, f"{name} is closed: {semantics.closed_fault}")
    if uncovered := queues.uncovered(use):
        return Gate(
            _GATE, REFUSED, f"{uncovered.queue} does not cover {uncovered.resource}, which the pods request"
        )
    excess = queues.excess(use)
    return Gate(_GATE, REFUSED, excess.message) if excess else Gate(_GATE, ACCEPTED, name)
