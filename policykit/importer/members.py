"""The nodes of a pool as a policy states them: which they are, and what each offers."""

from __future__ import annotations

from typing import Any

from policykit.importer import marks, names
from policykit.importer.amounts import amounts
from policykit.importer.groups import Group, Size, nearly
from policykit.kube.names import dns_subdomain_problem
from policykit.model.pool import Amounts

_PODS = 110
"""Pods a node takes where nobody says."""


def by_shapes(group: Group, found_by: dict[str, str]) -> bool:
    """Whether the nodes differ in size or place, so that each kind of them is named apart."""
    return len(group.sizes) > 1 and not found_by and (group.described is None or bool(group.described.names))


def selector(group: Group, groups: tuple[Group, ...]) -> dict[str, str]:
    """The labels by which the nodes are found: those of generated files, else of a node pool of
    which there are no other nodes. Empty: they are found otherwise.

    A node pool may stand in several zones: its nodes have no names that last.
    """
    pool = group.described
    if pool is None and not all(nearly(size.offered, group.sizes[0].offered) for size in group.sizes):
        return {}
    if pool and (pool.selector or pool.names or pool.minimum or pool.maximum is not None):
        return dict(pool.selector)
    for key in marks.NODE_POOLS:
        value = group.all_labels.get(key)
        if value and sum(other.all_labels.get(key) == value for other in groups) == 1:
            return {key: value}
    return {}


def members(group: Group, found_by: dict[str, str]) -> dict[str, Any]:
    """`nodes` and `allocatable` of a pool, as far as they are known."""
    if by_shapes(group, found_by):
        return {"nodes": [_shape(group, size) for size in group.sizes]}
    which = {"selector": found_by} if found_by else _which(group)
    said: dict[str, Any] = {"nodes": which} if which is not None else {}
    if group.sizes:
        first, *others = (size.offered for size in group.sizes)
        least = {r: min(n, *(each.get(r, 0) for each in others)) if others else n for r, n in first.items()}
        has = _allocatable(group, {resource: number for resource, number in least.items() if number})
        said |= {"allocatable": has} if has else {}
    return said


def cards_of(group: Group, size: Size | None) -> int:
    """Whole cards of a node of this size; 0: not known."""
    if group.card is None:
        return 0
    if group.card.cut.sharing:
        return group.card.cut.cards
    if size is None:
        return group.card.counted(group.all_labels)
    return size.counted or size.offered.get(group.card.resource, 0)


def _shape(group: Group, size: Size) -> dict[str, Any]:
    shape: dict[str, Any] = {"nodes": _listed(size.names)}
    has = _allocatable(group, size.offered)
    if has:
        shape["allocatable"] = has
    number, first = cards_of(group, size), cards_of(group, group.sizes[0])
    if number and number != first:
        shape["cardsPerNode"] = number
    if size.place:
        shape["labels"] = dict(size.place)
    return shape


def _which(group: Group) -> Any:
    """Names, a number or a range; None: nobody says."""
    pool = group.described
    if pool is None:
        return _listed(group.names)
    if pool.names:
        return _listed(pool.names)
    if pool.minimum == pool.maximum:
        return pool.minimum
    if pool.maximum is None and not pool.minimum:
        return len(group.names) or None
    return {"min": pool.minimum, **({"max": pool.maximum} if pool.maximum is not None else {})}


def _listed(nodes: tuple[str, ...]) -> Any:
    """Names, or their number where one of them is no name a policy may hold."""
    if any(dns_subdomain_problem(node) for node in nodes):
        return len(nodes)
    return {"names": names.ranges(nodes)}


def _allocatable(group: Group, offered: Amounts) -> dict[str, str | int]:
    """What pods may use, less what follows from the card and from the kubelet's default."""
    implied = {"pods"} if offered.get("pods") == _PODS else set()
    if group.card:
        implied |= {group.card.resource, f"{group.card.resource}.shared"}
        if group.card.cut.sharing:
            implied |= {resource for resource in offered if resource.startswith("nvidia.com/mig-")}
    return amounts({resource: number for resource, number in offered.items() if resource not in implied})
