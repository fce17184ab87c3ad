"""The pool of each live node: by name, by selector, else by labels, taints and sizes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from policykit.importer.cards import card_of
from policykit.importer.node_labels import CONTROL_PLANE
from policykit.kube.nodes import labels_of
from policykit.model.cluster import Cluster
from policykit.model.pool import Pool, Shape
from policykit.namedtuple import NamedTuple


class PoolNode(NamedTuple):
    """A live node with its pool and shape."""

    node: Pool
    """A pool of one node, from `kube.nodes.read`."""
    pool: Pool
    shape: Shape


class Membership(NamedTuple):
    """All nodes by pool."""

    pool_nodes: tuple[PoolNode, ...]
    unclaimed: tuple[Pool, ...] = ()
    """Nodes in no pool."""
    control_plane: tuple[Pool, ...] = ()


def membership(cluster: Cluster, nodes: Iterable[Pool]) -> Membership:
    """The pool of each node, in order of name.

    Nodes belong to the shape that lists or selects them. Others belong to the pool whose labels and
    taints match best and do not conflict.
    """
    pool_nodes: list[PoolNode] = []
    unclaimed: list[Pool] = []
    control_planes: list[Pool] = []
    sizes: dict[tuple[str, int], int] = {}
    for node in sorted(nodes, key=lambda node: node.name):
        found = _named(cluster, node) or _selected(cluster, node)
        if found is None and any(key in labels_of(node) for key in CONTROL_PLANE):
            control_planes.append(node)
            continue
        found = found or _likely(cluster, node, sizes)
        if found is None:
            unclaimed.append(node)
            continue
        pool_nodes.append(found)
        place = found.pool.name, found.pool.shapes.index(found.shape)
        sizes[place] = sizes.get(place, 0) + 1
    return Membership(tuple(pool_nodes), tuple(unclaimed), tuple(control_planes))


def _named(cluster: Cluster, node: Pool) -> PoolNode | None:
    for pool in cluster.pools:
        for shape in pool.shapes:
            if node.name in shape.node_names:
                return PoolNode(node, pool, shape)
    return None


def _selected(cluster: Cluster, node: Pool) -> PoolNode | None:
    labels = labels_of(node)
    for pool in cluster.pools:
        for shape in pool.shapes:
            if shape.selector and shape.selector.items() <= labels.items():
                return PoolNode(node, pool, shape)
    return None


def _likely(cluster: Cluster, node: Pool, sizes: Mapping[tuple[str, int], int]) -> PoolNode | None:
    """The best match among shapes without names and selector."""
    ranked = []
    ours = frozenset(card.resource for card in cluster.cards.values())
    bare = card_of(labels_of(node), node.shapes[0].allocatable, ours) is None
    for order, pool in enumerate(cluster.pools):
        for number, shape in enumerate(pool.shapes):
            if shape.node_names or shape.selector or not _possible(cluster, node, pool, shape, bare):
                continue
            has = {**pool.labels, **shape.labels}
            missing = [key for key in has if key not in labels_of(node)]
            matched = len(has) - len(missing) + len(set(pool.taints) & set(node.taints))
            if (has or pool.taints) and not matched:
                continue
            full = shape.maximum is not None and sizes.get((pool.name, number), 0) >= shape.maximum
            rank = (bool(missing), -matched, _distance(node, shape), full, order, number)
            ranked.append((rank, PoolNode(node, pool, shape)))
    return min(ranked, key=lambda each: each[0])[1] if ranked else None


def _possible(cluster: Cluster, node: Pool, pool: Pool, shape: Shape, bare: bool) -> bool:
    """Whether a node does not conflict with a pool. `bare`: the node has no card."""
    labels = labels_of(node)
    has = {**pool.labels, **shape.labels}
    if any(key in labels and labels[key] != value for key, value in has.items()):
        return False
    if not pool.usage and cluster.usage_key and cluster.usage_key in labels:
        return False
    if not pool.card:
        return bare
    others = {card.resource for card in cluster.cards.values()} - set(pool.resources)
    return not any(node.shapes[0].allocatable.get(resource) for resource in others)


def _distance(node: Pool, shape: Shape) -> int:
    """Number of resources in which the node differs from the shape."""
    offers = node.shapes[0].allocatable
    return sum(offers.get(resource, 0) != number for resource, number in shape.allocatable.items())
