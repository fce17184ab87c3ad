"""Room that nodes have now for a pod, beside the pods that are bound to them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from policykit.model.cluster import Cluster
from policykit.model.pool import Amounts, Pool
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
