"""The node shapes of a pool: size, number, names and topology."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from policykit.kube.names import dns_subdomain_problem
from policykit.manifests.path import Path
from policykit.model.pool import Shape
from policykit.namedtuple import NamedTuple
from policykit.policy.compile.amounts import amounts
from policykit.policy.compile.card_labels import CardLabels
from policykit.policy.compile.draft import Draft
from policykit.policy.compile.labels import NodeAttributes, checked_labels
from policykit.policy.compile.sharing import PoolCards
from policykit.policy.compile.topology import TopologyLabels, group_by_topology, node_topology
from policykit.policy.models.pool import NodeSet, NodeShape, Pool
from policykit.policy.node_names import expand_range

PODS_PER_NODE = 110
"""Pods per node if not set: the kubelet's default."""


class PoolDraft(NamedTuple):
    """The parts of a pool that its shapes depend on."""

    draft: Draft
    path: Path
    stated: Pool
    attributes: NodeAttributes
    cards: PoolCards | None = None
    names: CardLabels | None = None


def pool_shapes(pool: PoolDraft) -> tuple[Shape, ...]:
    """The shapes of a pool, split so that each has one topology location."""
    stated = pool.stated.nodes
    if isinstance(stated, tuple):
        found = tuple(_shape(pool, (*pool.path, "nodes", number), each) for number, each in enumerate(stated))
        if not found:
            path = (*pool.path, "nodes")
            pool.draft.problems.error(path, "nodes is an empty list", "set a number, or remove it", key=True)
    else:
        found = (_shape(pool, pool.path, NodeShape.model_construct(nodes=stated)),)
    return _split_by_topology(pool, found)


def _shape(pool: PoolDraft, path: Path, shape: NodeShape) -> Shape:
    which = _shape_nodes(pool.draft, (*path, "nodes"), shape.nodes)
    labels = checked_labels(pool.draft, (*path, "nodes", "selector"), which.selector, pool.attributes)
    labels |= checked_labels(pool.draft, (*path, "labels"), shape.labels, pool.attributes)
    if shape.cards_per_node is not None and pool.cards and pool.names and pool.names.count_key:
        labels[pool.names.count_key] = str(pool.cards.offer(shape.cards_per_node).counted)
    return Shape(
        _allocatable(pool, path, shape), which.minimum, which.maximum, which.names, which.selector, labels
    )


def _allocatable(pool: PoolDraft, path: Path, shape: NodeShape) -> dict[str, int]:
    """The allocatable amounts as set, and the cards if their number is known."""
    if shape.allocatable is None:
        stated = amounts(pool.draft, (*pool.path, "allocatable"), pool.stated.allocatable)
    else:
        stated = amounts(pool.draft, (*path, "allocatable"), shape.allocatable)
    offered = pool.cards.offer(shape.cards_per_node).amounts if pool.cards else {}
    known = {resource: n for resource, n in offered.items() if n or shape.cards_per_node == 0}
    pods = {"pods": PODS_PER_NODE} if stated else {}
    return {**known, **pods, **stated}


def _split_by_topology(pool: PoolDraft, found: tuple[Shape, ...]) -> tuple[Shape, ...]:
    topology = pool.stated.topology
    if not isinstance(topology, tuple) or not topology:
        return found
    names = tuple(name for shape in found for name in shape.node_names)
    placed = node_topology(pool.draft, (*pool.path, "topology"), topology, names)
    return tuple(part for shape in found for part in _split(shape, placed))


def _split(shape: Shape, placed: TopologyLabels) -> list[Shape]:
    if not shape.node_names:
        return [shape]
    groups = group_by_topology(shape.node_names, placed).items()
    return [
        shape._replace(
            minimum=len(names),
            maximum=len(names),
            node_names=names,
            labels={**shape.labels, **dict(labels)},
        )
        for labels, names in groups
    ]


class ShapeNodes(NamedTuple):
    """Which nodes a shape has."""

    minimum: int = 0
    maximum: int | None = None
    names: tuple[str, ...] = ()
    selector: Mapping[str, str] = {}


def _shape_nodes(draft: Draft, path: Path, nodes: int | NodeSet | None) -> ShapeNodes:
    """The nodes given by `nodes` of a pool or shape."""
    if nodes is None:
        return ShapeNodes()
    if isinstance(nodes, int):
        return ShapeNodes(nodes, nodes)
    ways = [
        *(["min and max"] if nodes.min is not None or nodes.max is not None else []),
        *(["names"] if nodes.names is not None else []),
        *(["selector"] if nodes.selector is not None else []),
    ]
    if len(ways) != 1:
        given = f"set: {', '.join(ways)}" if ways else "none is set"
        message = f"nodes need exactly one of min and max, names, and selector; {given}"
        draft.problems.error(path, message, "keep one of the three", key=True)
    if nodes.names is not None:
        names = _node_names(draft, (*path, "names"), nodes.names)
        return ShapeNodes(len(names), len(names), names)
    if nodes.selector is not None:
        return ShapeNodes(selector=dict(nodes.selector))
    low, high = nodes.min or 0, nodes.max
    if high is not None and low > high:
        message = f"min {low} is more than max {high}"
        draft.problems.error((*path, "min"), message, "lower min or raise max")
    return ShapeNodes(low, high)


def _node_names(draft: Draft, path: Path, stated: Iterable[str]) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for number, name in enumerate(stated):
        expanded = expand_range(name)
        if expanded is None:
            message = f"range {name!r} is reversed or too long"
            draft.problems.error((*path, number), message, "put the smaller number first: gpu-[01-16]")
            continue
        problem = dns_subdomain_problem(expanded[0])
        hint = "globs do not work here: list the names, or use selector" if "*" in name else ""
        if problem:
            draft.problems.error((*path, number), f"node name {name!r} {problem}", hint)
            continue
        for each in expanded:
            if each in found:
                draft.problems.error((*path, number), f"node {each} is listed twice in this pool")
            found[each] = None
    return tuple(found)
