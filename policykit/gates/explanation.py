"""Why a pod of a cluster waits, or runs where it does: room on nodes, and what would let it run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from shlex import quote

from policykit.gates import REFUSED
from policykit.gates.pod_gates import Answer
from policykit.model.cluster import Cluster
from policykit.model.pool import Amounts, Pool
from policykit.model.quantity import amount_text
from policykit.namedtuple import NamedTuple
from policykit.placement.landing import land
from policykit.placement.review import Review

_PODS = "pods"


class NodeUse(NamedTuple):
    """A node and what the pods bound to it request."""

    node: Pool
    """A pool of one node, from `kube.nodes.read`."""
    used: Amounts = {}

    def free(self, resource: str) -> int:
        """Never negative: a device may have failed since."""
        return max(0, self.node.shapes[0].allocatable.get(resource, 0) - self.used.get(resource, 0))


class Shortage(NamedTuple):
    """A resource of which some nodes have not enough left."""

    resource: str
    wanted: int
    free: tuple[int, ...]
    """What each of these nodes has left, the most first."""


class Refusal(NamedTuple):
    """Nodes that refuse the pod whatever they have left."""

    reason: str
    detail: str
    nodes: tuple[str, ...]


class PoolRoom(NamedTuple):
    """The nodes of a pool that accepts a pod."""

    pool: str
    nodes: int
    open_nodes: tuple[str, ...]
    """Nodes with room for at least one of the pods."""
    pods: int
    """Pods that fit on these together."""
    refusals: tuple[Refusal, ...] = ()
    shortages: tuple[Shortage, ...] = ()


def pool_room(review: Review, pool: str, nodes: Sequence[NodeUse]) -> PoolRoom:
    """What the nodes of a pool have for the pod of a review."""
    wanted = {_PODS: 1, **review.requests}
    refused: dict[tuple[str, str], list[str]] = {}
    short: dict[str, list[int]] = {}
    open_nodes: list[str] = []
    pods = 0
    for each in nodes:
        landing = land(_alone(each.node), each.node, review.tolerations, review.affinity, review.requests)
        lacking = _lacking(each, wanted)
        if not landing.accepts:
            refused.setdefault((landing.reason, landing.detail), []).append(each.node.name)
        elif lacking:
            short.setdefault(lacking, []).append(each.free(lacking))
        else:
            open_nodes.append(each.node.name)
            pods += min(each.free(name) // amount for name, amount in wanted.items() if amount)
    return PoolRoom(
        pool,
        len(nodes),
        tuple(open_nodes),
        pods,
        tuple(Refusal(*why, tuple(names)) for why, names in refused.items()),
        tuple(
            Shortage(name, wanted[name], tuple(sorted(free, reverse=True))) for name, free in short.items()
        ),
    )


def _alone(node: Pool) -> Cluster:
    """A node by itself: everything about it is known."""
    return Cluster("nodes", (node,), observed=True, complete=True)


def _lacking(node: NodeUse, wanted: Amounts) -> str:
    """The first resource of which the node has not enough left, cards first; empty: it has enough."""
    names: Iterable[str] = sorted(wanted, key=lambda name: ("/" not in name, name))
    return next((name for name in names if node.free(name) < wanted[name]), "")


SUSPENDED = "suspended"


class QueueState(NamedTuple):
    """A queue that the pod counts in."""

    name: str
    limit: Amounts
    used: Amounts | None
    """None: nothing in the API server tells it."""


class GangState(NamedTuple):
    """The gang that the pod starts with."""

    name: str
    minimum: int | None
    pods: int
    bound: int
    phase: str = ""
    """As its scheduler has it in the group's status."""
    message: str = ""


class Step(NamedTuple):
    """What would let the pod run."""

    note: str
    command: str = ""
    """Empty: no command does it."""


class Explanation(NamedTuple):
    """About one pod, or about an object that has none."""

    name: str
    """`Pod default/chat-1`."""
    answer: Answer
    """Its pools, and the gates that it must pass."""
    made_by: str = ""
    """The topmost object that makes it, as kubectl names it: `deployments.apps/chat`; empty: nobody does."""
    alike: int = 0
    """Further pods that wait for the same."""
    phase: str = ""
    """Empty: there is no pod."""
    node: str = ""
    """Empty: it is bound to none."""
    pool: str = ""
    """The pool of its node; empty: the node is in none."""
    meant: bool = True
    """Its node is in a pool that the policy means it for."""
    held_by: tuple[str, ...] = ()
    """Scheduling gates, and suspension."""
    rooms: tuple[PoolRoom, ...] | None = ()
    """Of accepting pools; None: the pods of other namespaces may not be read."""
    queues: tuple[QueueState, ...] = ()
    gang: GangState | None = None
    scheduler: str = ""
    message: str = ""
    """The last message of its scheduler; empty: none has tried it."""
    steps: tuple[Step, ...] = ()

    @property
    def runs(self) -> bool:
        return bool(self.node)


_CORDONED = "unschedulable"
_MOST = 3
"""Nodes that a command names."""


def steps(one: Explanation, cluster: Cluster) -> Iterator[Step]:
    """In the order in which they are worth trying."""
    yield from _held(one)
    yield from _gates(one)
    if not any(landing.accepts for landing in one.answer.review.landings):
        yield from _placement(one, cluster)
    for room in one.rooms or ():
        if room.open_nodes:
            continue
        for refusal in room.refusals:
            if refusal.reason == _CORDONED:
                names = " ".join(map(quote, refusal.nodes[:_MOST]))
                yield Step(f"pool {room.pool}: {refusal.detail}", f"kubectl uncordon {names}")
        for short in room.shortages:
            wanted = amount_text(short.resource, short.wanted)
            yield Step(f"pool {room.pool}: free {wanted} {short.resource} on one node, or add a node")


def _held(one: Explanation) -> Iterator[Step]:
    for held in one.held_by:
        if held != SUSPENDED:
            yield Step(f"{held}: whoever set it removes it")
        elif one.made_by:
            patch = '{"spec":{"suspend":false}}'
            command = f"kubectl patch {_object(one)} --type merge -p '{patch}'"
            yield Step("it is suspended: a queueing system resumes it, or else you", command)


def _object(one: Explanation) -> str:
    """The object that makes the pods, as words for kubectl."""
    namespace = one.answer.review.manifest.namespace or "default"
    return f"{quote(one.made_by)} -n {quote(namespace)}"


def _gates(one: Explanation) -> Iterator[Step]:
    for gate in one.answer.gates:
        if gate.state == REFUSED:
            yield Step(f"{gate.name}: {gate.detail}")


def _placement(one: Explanation, cluster: Cluster) -> Iterator[Step]:
    """No pool accepts the pod: patch would place it, if its workload kind is known."""
    review = one.answer.review
    if review.workload is not None and one.made_by and not cluster.observed:
        # The templates of other kinds than those of apps cannot be changed.
        write = "apply" if ".apps/" in one.made_by else "replace --force"
        yield Step(
            f"no pool accepts it: place it as workload kind {review.workload.name}",
            f"kubectl get {_object(one)} -o yaml | policykit patch - | kubectl {write} -f -",
        )
    elif review.workload is None and cluster.workloads:
        known = ", ".join(sorted(cluster.workloads))
        yield Step(f"no pool accepts it, and it has no workload kind: give it one of {known}")
    else:
        yield Step("no pool accepts it: change its selectors, tolerations or requests")
