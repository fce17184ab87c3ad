"""The node shapes of a pool: size, number, names and topology."""

from __future__ import annotations

from typing import NamedTuple

from policykit.manifests.path import Path
from policykit.model.pool import Shape
from policykit.policy.compile.amounts import amounts
from policykit.policy.compile.draft import Draft
from policykit.policy.compile.known_card import CardLabels
from policykit.policy.compile.labels import Marks, own_labels
from policykit.policy.compile.members import members
from policykit.policy.compile.sharing import PoolCards
from policykit.policy.compile.topology import Placing, grouped, placing
from policykit.policy.models.nodes import NodeShape
from policykit.policy.models.pool import Pool

PODS = 110
"""Pods per node if not set: the kubelet's default."""


class PoolDraft(NamedTuple):
    """The parts of a pool that its shapes depend on."""

    draft: Draft
    path: Path
    stated: Pool
    marks: Marks
    cards: PoolCards | None = None
    names: CardLabels | None = None


def shapes(pool: PoolDraft) -> tuple[Shape, ...]:
    """The shapes of a pool, split so that each has one topology location."""
    stated = pool.stated.nodes
    if isinstance(stated, tuple):
        found = tuple(_shape(pool, (*pool.path, "nodes", number), each) for number, each in enumerate(stated))
        if not found:
            path = (*pool.path, "nodes")
            pool.draft.problems.error(path, "nodes is an empty list", "set a number, or remove it", key=True)
    else:
        found = (_shape(pool, pool.path, NodeShape.model_construct(nodes=stated)),)
    return _placed(pool, found)


def _shape(pool: PoolDraft, path: Path, shape: NodeShape) -> Shape:
    which = members(pool.draft, (*path, "nodes"), shape.nodes)
    labels = own_labels(pool.draft, (*path, "nodes", "selector"), which.selector, pool.marks)
    labels |= own_labels(pool.draft, (*path, "labels"), shape.labels, pool.marks)
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
    pods = {"pods": PODS} if stated else {}
    return {**known, **pods, **stated}


def _placed(pool: PoolDraft, found: tuple[Shape, ...]) -> tuple[Shape, ...]:
    topology = pool.stated.topology
    if not isinstance(topology, tuple) or not topology:
        return found
    names = tuple(name for shape in found for name in shape.node_names)
    placed = placing(pool.draft, (*pool.path, "topology"), topology, names)
    return tuple(part for shape in found for part in _split(shape, placed))


def _split(shape: Shape, placed: Placing) -> list[Shape]:
    if not shape.node_names:
        return [shape]
    groups = grouped(shape.node_names, placed).items()
    return [
        shape._replace(
            minimum=len(names),
            maximum=len(names),
            node_names=names,
            labels={**shape.labels, **dict(labels)},
        )
        for labels, names in groups
    ]
