"""Node pools: node shapes, labels, taints and sizes from the scheme, the card and the pool."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from policykit.kube.names import dns_subdomain_problem, label_key_problem, label_value_problem
from policykit.manifests.path import Path
from policykit.model.pool import Pool, Shape, Toleration
from policykit.namedtuple import NamedTuple
from policykit.policy.compile.amounts import amounts
from policykit.policy.compile.draft import Draft
from policykit.policy.compile.labels import (
    NodeAttributes,
    add_card,
    add_label,
    add_own_label,
    add_taint,
    add_usage,
    checked_labels,
    parse_taint,
)
from policykit.policy.compile.scheme import CardData, CardLabels, EffectiveScheme, card_labels, pool_scheme
from policykit.policy.compile.sharing import PoolCards, compile_sharing
from policykit.policy.compile.topology import (
    TopologyLabels,
    expand_range,
    group_by_topology,
    node_topology,
    topology_labels,
)
from policykit.policy.models import pool as written
from policykit.policy.models.pool import NodeSet, NodeShape, PoolTopology

PODS_PER_NODE = 110
"""Pods per node if not set: the kubelet's default."""


class PoolDraft(NamedTuple):
    """The parts of a pool that its shapes depend on."""

    draft: Draft
    path: Path
    stated: written.Pool
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
    given_by = [
        *(["min and max"] if nodes.min is not None or nodes.max is not None else []),
        *(["names"] if nodes.names is not None else []),
        *(["selector"] if nodes.selector is not None else []),
    ]
    if len(given_by) != 1:
        given = f"set: {', '.join(given_by)}" if given_by else "none is set"
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


def compile_pools(draft: Draft, scheme: EffectiveScheme) -> tuple[Pool, ...]:
    """All pools in the policy's order."""
    pools = tuple(_pool(draft, name, pool, scheme) for name, pool in draft.policy.pools.items())
    _check_shared_nodes(draft, pools)
    return pools


def _pool(draft: Draft, name: str, stated: written.Pool, cluster_scheme: EffectiveScheme) -> Pool:
    path: Path = ("pools", name)
    draft.check(path, f"pool name {name!r}", dns_subdomain_problem(name), key=True)
    scheme = pool_scheme(cluster_scheme, stated.scheme, draft.policy.domain)
    card = draft.cards.get(stated.card)
    sharing = compile_sharing(draft, (*path, "sharing"), stated.sharing, card)
    pool = PoolDraft(draft, path, stated, NodeAttributes({}, {}))
    add_usage(draft, path, pool.attributes, stated.usage, scheme)
    per_node = _per_node(draft, path, stated, card)
    if card is not None:
        whole = stated.sharing.whole_cards
        if whole and per_node and whole >= per_node:
            message = f"wholeCards {whole} leaves none of the {per_node} cards per node to partition"
            draft.problems.error((*path, "sharing", "wholeCards"), message, "lower it, or use mode none")
        sure = card.per_node_sure or stated.cards_per_node is not None
        cards = PoolCards(card, sharing, per_node, whole, stated.sharing.rename, sure)
        pool = pool._replace(cards=cards, names=card_labels(card, scheme))
        add_card(draft, path, pool.attributes, cards, card_labels(card, scheme), scheme)
    _add_own(pool)
    return Pool(
        name,
        pool_shapes(pool),
        pool.attributes.labels,
        tuple(pool.attributes.taints.values()),
        stated.usage,
        card.name if card else "",
        tuple(sorted(pool.cards.offer().amounts)) if pool.cards else (),
        sharing,
        tuple(_toleration(draft, path, number, each) for number, each in enumerate(stated.injects)),
        scheme.resource_tolerations,
        stated.unschedulable,
        frozenset(pool.names.discovered) if pool.names else frozenset(),
        _autoscaled(stated),
        _shared(draft, path, stated),
        stated.protect,
    )


def _per_node(draft: Draft, path: Path, stated: written.Pool, card: CardData | None) -> int:
    if card is None:
        if stated.cards_per_node:
            message = "cardsPerNode needs a card, but the pool has none"
            draft.problems.error((*path, "cardsPerNode"), message, "add card, or remove it", key=True)
        return 0
    if stated.cards_per_node is not None:
        return stated.cards_per_node
    if not card.per_node:
        message = f"the number of {card.name} cards per node is unknown, so sizes are not checked"
        draft.problems.notice((*path, "card"), message, "add cardsPerNode")
    return card.per_node


def _add_own(pool: PoolDraft) -> None:
    """The pool's own labels and taints, and the topology of the whole pool."""
    draft, path, stated, attributes, *_ = pool
    for key, value in stated.labels.items():
        add_own_label(draft, (*path, "labels", key), attributes, key, value)
    for number, each in enumerate(stated.taints):
        place = (*path, "taints", number)
        found = parse_taint(draft, place, each)
        if found is not None:
            add_taint(draft, place, attributes, found)
    if isinstance(stated.topology, PoolTopology):
        for key, value in topology_labels(draft, (*path, "topology"), stated.topology).items():
            add_label(draft, (*path, "topology"), attributes, key, value)


def _toleration(draft: Draft, path: Path, number: int, stated: written.Toleration) -> Toleration:
    place = (*path, "injects", number)
    if stated.operator == "Exists" and stated.value:
        draft.problems.error((*place, "value"), "operator Exists takes no value", "remove value", key=True)
    if not stated.key and stated.operator != "Exists":
        draft.problems.error(place, "a toleration without a key needs operator Exists", "add key")
    if stated.key:
        draft.check((*place, "key"), f"taint key {stated.key!r}", label_key_problem(stated.key))
    draft.check((*place, "value"), f"taint value {stated.value!r}", label_value_problem(stated.value))
    return Toleration(stated.key, stated.operator, stated.value, stated.effect or "")


def _shared(draft: Draft, path: Path, stated: written.Pool) -> str:
    if "shared_by_schedulers" in stated.model_fields_set and not stated.shared_by_schedulers.strip():
        hint = "add a reason, or remove it"
        draft.problems.error(
            (*path, "sharedBySchedulers"), "sharedBySchedulers has no reason", hint, key=True
        )
    return stated.shared_by_schedulers.strip()


def _autoscaled(stated: written.Pool) -> bool:
    shapes = stated.nodes if isinstance(stated.nodes, tuple) else (stated,)
    sets = [shape.nodes for shape in shapes if isinstance(shape.nodes, NodeSet)]
    return any(nodes.min != nodes.max for nodes in sets)


def _check_shared_nodes(draft: Draft, pools: tuple[Pool, ...]) -> None:
    """Reports nodes that are in several pools."""
    homes: dict[str, str] = {}
    for pool in pools:
        for name in (name for shape in pool.shapes for name in shape.node_names):
            home = homes.setdefault(name, pool.name)
            if home != pool.name:
                message = f"node {name} is already in pool {home}"
                draft.problems.error(("pools", pool.name, "nodes"), message, "list it in one pool", key=True)
