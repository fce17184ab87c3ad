"""Nodes that are alike, or that generated files put into one pool."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from policykit.catalogue.labels import provider_taints
from policykit.importer import marks
from policykit.importer.cards import Seen, also_named, bare, offered, seen
from policykit.importer.found import Described, Found, Node
from policykit.model.pool import Amounts
from policykit.model.taint import Taint
from policykit.policy.presets import PRESETS

MACHINE = "node.kubernetes.io/instance-type"
_NEARLY = 50
"""Nodes whose memory differs by less than one part in this many have the same size."""


class Size(NamedTuple):
    """Nodes of a group that are alike in size and place."""

    offered: Amounts
    """What each of them has at least; empty: not known."""
    place: Mapping[str, str]
    names: tuple[str, ...]
    counted: int = 0
    """Cards by the count label of the nodes; 0: they have none."""
    machines: tuple[str, ...] = ()
    """Types of machine that a cloud says they are; with an empty one: not of all."""
    found_as: str = ""
    """Type of machine that tells them from the other nodes of their node pool; empty: none need be told."""


class Group(NamedTuple):
    """What will be a pool."""

    labels: Mapping[str, str]
    """What the nodes are for, as labels; those of the card apart."""
    taints: tuple[Taint, ...]
    card: Seen | None
    sizes: tuple[Size, ...] = ()
    """Empty: only generated files speak of it."""
    cordoned: bool = False
    described: Described | None = None
    all_labels: Mapping[str, str] = {}
    """Of its first node: what names and guesses may rest on."""

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(sorted(name for size in self.sizes for name in size.names))


def with_cards(groups: tuple[Group, ...], resource: str) -> tuple[Group, ...]:
    """The described pools whose card nothing shows, with this one."""
    card = bare(resource)
    return tuple(
        group._replace(card=card) if group.described and not group.card else group for group in groups
    )


def is_control_plane(node: Node) -> bool:
    """Closed as such: a control plane without the taint takes pods like any other node."""
    return any(taint.hard and marks.closes_control_plane(taint) for taint in node.taints)


def groups(found: Found, named: frozenset[str] = frozenset()) -> tuple[Group, ...]:
    """Described pools in their order, then the other nodes by what they show.

    `named`: resources outside the catalogue that are cards, as generated files say.
    """
    workers = [node for node in sorted(found.nodes.values()) if not is_control_plane(node)]
    own = marks.own_keys(workers)
    left = list(workers)
    by_cloud = frozenset(each.taint for each in provider_taints(found.provider) if each.automatic)
    claimed: dict[str, list[Node]] = {}
    # A pool that says little of its nodes has those that are in no other.
    for pool in sorted(found.described, key=lambda pool: (not pool.names, -_said(pool))):
        claimed[pool.name] = [node for node in left if _member(node, pool, by_cloud)]
        left = [node for node in left if node not in claimed[pool.name]]
    made = [_described(pool, claimed[pool.name], own, named, found.provider) for pool in found.described]
    alike: dict[object, list[Node]] = {}
    for node in left:
        alike.setdefault(_look(node, own, named), []).append(node)
    return (*made, *(_observed(nodes, own, named) for nodes in alike.values()))


def _said(pool: Described) -> int:
    return len(pool.labels) + len(pool.selector) + len(pool.taints)


def _member(node: Node, pool: Described, by_cloud: frozenset[Taint]) -> bool:
    if pool.names:
        return node.name in pool.names
    selected = {**pool.selector, **pool.labels}
    return all(node.labels.get(key) == value for key, value in selected.items()) and (
        set(pool.taints) == set(marks.lasting(node.taints)) - (by_cloud - set(pool.taints))
    )


def _look(node: Node, own: frozenset[str], named: frozenset[str]) -> object:
    """What nodes of one pool have in common."""
    card = seen(node.labels, offered(node), named)
    shown = (card.card, card.shown, tuple(sorted(map(str, card.cut.sharing.items())))) if card else None
    labels = {**_less(marks.marks(node, own), card), **also_named(node.labels, card)}
    return tuple(sorted(labels.items())), marks.lasting(node.taints), shown


def _less(labels: Mapping[str, str], card: Seen | None) -> dict[str, str]:
    """Labels without those that the card explains."""
    return {key: value for key, value in labels.items() if card is None or key not in card.keys}


def _observed(nodes: list[Node], own: frozenset[str], named: frozenset[str]) -> Group:
    first = min(nodes, key=lambda node: (not node.allocatable, node.name))
    card = seen(first.labels, offered(first), named)
    return Group(
        {**_less(marks.marks(first, own), card), **also_named(first.labels, card)},
        marks.lasting(first.taints),
        card,
        _sizes(nodes, own, card),
        all(node.cordoned for node in nodes),
        None,
        first.labels,
    )


def _described(
    pool: Described, nodes: list[Node], own: frozenset[str], named: frozenset[str], provider: str
) -> Group:
    """Generated files say what the nodes are for; the nodes say how large they are."""
    labels = {**pool.labels, **pool.selector}
    first = min(nodes, key=lambda node: (not node.allocatable, node.name), default=None)
    shown = {**first.labels, **labels} if first else labels
    card = seen(shown, offered(first) if first else {}, named)
    return Group(
        _less(labels, card),
        marks.lasting((*pool.taints, *_by_cloud(card, provider))),
        card,
        _sizes(nodes, own, card, pool) if nodes else _places(pool),
        bool(nodes) and all(node.cordoned for node in nodes),
        pool,
        shown,
    )


def _by_cloud(card: Seen | None, provider: str) -> tuple[Taint, ...]:
    """The taint that a cloud sets for a card, which is not generated."""
    taint = PRESETS[provider].card_taints.get(card.vendor) if card and provider in PRESETS else None
    return (taint,) if taint else ()


def _sizes(
    nodes: list[Node], own: frozenset[str], card: Seen | None, pool: Described | None = None
) -> tuple[Size, ...]:
    """Nodes by what they offer and where they stand; memory may differ a little."""
    found: list[tuple[dict[str, int], dict[str, str], int, list[Node]]] = []
    for node in sorted(nodes, key=lambda node: node.name):
        has = offered(node)
        counted = card.counted(node.labels) if card else 0
        where = _where(node, own, pool)
        for theirs, there, number, members in found:
            if (there, number) == (where, counted) and nearly(theirs, has):
                theirs["memory"] = min(theirs.get("memory", 0), has.get("memory", 0))
                members.append(node)
                break
        else:
            found.append((has, where, counted, [node]))
    return tuple(
        Size(
            {resource: number for resource, number in has.items() if number},
            where,
            tuple(node.name for node in members),
            counted,
            tuple(sorted({node.labels.get(MACHINE, "") for node in members})),
        )
        for has, where, counted, members in found
    )


def _where(node: Node, own: frozenset[str], pool: Described | None) -> dict[str, str]:
    """Labels of a node's place: as generated files say, and where those set no labels, as it has them."""
    if pool is None:
        return marks.place(node.labels, own)
    if pool.own_labels or not pool.names:
        return dict(pool.own_labels.get(node.name, {}))
    return {key: value for key, value in marks.place(node.labels, own).items() if key not in pool.labels}


def _places(pool: Described) -> tuple[Size, ...]:
    """The named nodes of a pool by where they stand, as generated labels say."""
    if not any(pool.own_labels.values()):
        return ()
    found: dict[tuple[tuple[str, str], ...], list[str]] = {}
    for name in pool.names:
        found.setdefault(tuple(sorted(pool.own_labels.get(name, {}).items())), []).append(name)
    return tuple(Size({}, dict(where), tuple(names)) for where, names in found.items())


def nearly(one: Amounts, other: Amounts) -> bool:
    """Whether nodes are of one size: alike in all but a little memory."""
    rest, theirs = ({r: n for r, n in each.items() if r != "memory"} for each in (one, other))
    low, high = sorted((one.get("memory", 0), other.get("memory", 0)))
    return rest == theirs and (low == high or (high - low) * _NEARLY < high)
