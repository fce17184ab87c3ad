"""Node pools: labels, taints and sizes from the scheme, the card and the pool."""

from __future__ import annotations

from policykit.kube.names import dns_subdomain_problem, label_key_problem, label_value_problem
from policykit.manifests.path import Path
from policykit.model.pool import Pool
from policykit.model.taint import Toleration
from policykit.policy.compile.card_labels import CardData, card_labels
from policykit.policy.compile.draft import Draft
from policykit.policy.compile.labels import (
    NodeAttributes,
    add_card,
    add_label,
    add_own_label,
    add_taint,
    add_usage,
    parse_taint,
)
from policykit.policy.compile.node_shapes import PoolDraft, pool_shapes
from policykit.policy.compile.scheme import EffectiveScheme, pool_scheme
from policykit.policy.compile.sharing import PoolCards, compile_sharing
from policykit.policy.compile.topology import topology_labels
from policykit.policy.models import pool as written
from policykit.policy.models.pool import NodeSet, PoolTopology


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
