"""`nodes` and `allocatable` of a pool."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from policykit.importer import names, node_labels
from policykit.importer.groups import MACHINE, Group, Size, same_size
from policykit.importer.sections import amounts
from policykit.kube.names import dns_subdomain_problem
from policykit.model.pool import Amounts
from policykit.policy.compile.node_shapes import PODS_PER_NODE


def by_shapes(group: Group, found_by: dict[str, str]) -> bool:
    """Whether the nodes differ in size or location and need one shape each."""
    if found_by:
        return any(size.machine_type for size in group.sizes)
    return len(group.sizes) > 1 and (group.generated is None or bool(group.generated.names))


def alike(sizes: Iterable[Size]) -> bool:
    """Whether sizes differ only in location and slightly in memory."""
    first, *others = [size.offered for size in sizes] or [{}]
    return all(same_size(each, first) for each in others)


def selected_nodes(group: Group, groups: tuple[Group, ...]) -> tuple[Group, dict[str, str]]:
    """A group, and the labels that select its nodes; empty: they are listed or counted instead.

    The labels come from generated files, else from the node pool, plus one more label if the node
    pool has other nodes. Node names in a node pool do not last, so sizes are distinguished by
    instance type, and the group then has one size for each type.
    """
    pool = group.generated
    stated = pool and (pool.selector or pool.names or pool.minimum or pool.maximum is not None)
    found_by = dict(pool.selector) if pool and stated else _node_pool(group, groups)
    if not found_by or alike(group.sizes):
        return group, found_by
    sizes = _by_machine(group.sizes)
    if sizes:
        return group._replace(sizes=sizes), found_by
    return group, found_by if pool else {}


def _node_pool(group: Group, groups: tuple[Group, ...]) -> dict[str, str]:
    for key in node_labels.NODE_POOLS:
        value = group.all_labels.get(key)
        if not value:
            continue
        others = [each for each in groups if each is not group and each.all_labels.get(key) == value]
        if not others:
            return {key: value}
        for more, said in sorted(group.labels.items()):
            if said and all(each.labels.get(more) != said for each in others):
                return {key: value, more: said}
    return {}


def _by_machine(sizes: tuple[Size, ...]) -> tuple[Size, ...]:
    """One size for each instance type; empty: the types do not distinguish the sizes."""
    by_type: dict[str, list[Size]] = {}
    for size in sizes:
        for machine in size.machines:
            by_type.setdefault(machine, []).append(size)
    if "" in by_type or not all(alike(having) for having in by_type.values()):
        return ()
    return tuple(_merged(machine, having) for machine, having in sorted(by_type.items()))


def _merged(machine: str, sizes: list[Size]) -> Size:
    first, *others = sizes
    place = {k: v for k, v in first.place.items() if all(each.place.get(k) == v for each in others)}
    names = tuple(sorted(name for size in sizes for name in size.names))
    return Size(_least(sizes), place, names, first.label_count, (machine,), machine)


def node_fields(group: Group, found_by: dict[str, str]) -> dict[str, Any]:
    """`nodes` and `allocatable` of a pool, as far as known."""
    has = _allocatable(group, _least(group.sizes)) if group.sizes else {}
    if by_shapes(group, found_by):
        same = alike(group.sizes)
        shapes = [_shape(group, size, found_by, same) for size in group.sizes]
        return {"nodes": shapes, **({"allocatable": has} if same and has else {})}
    which = {"selector": found_by} if found_by else _which(group)
    said: dict[str, Any] = {"nodes": which} if which is not None else {}
    return {**said, "allocatable": has} if has else said


def _least(sizes: Sequence[Size]) -> dict[str, int]:
    """Least amounts that nodes of these sizes offer."""
    first, *others = (size.offered for size in sizes)
    found = {r: min(n, *(each.get(r, 0) for each in others)) if others else n for r, n in first.items()}
    return {resource: number for resource, number in found.items() if number}


def cards_per_node(group: Group, size: Size | None) -> int:
    """Whole cards of a node of this size; 0: unknown."""
    if group.card is None:
        return 0
    if group.card.sharing.options:
        return group.card.sharing.cards
    if size is None:
        return group.card.label_count(group.all_labels)
    return size.label_count or size.offered.get(group.card.resource, 0)


def _shape(group: Group, size: Size, found_by: dict[str, str], same: bool) -> dict[str, Any]:
    """One shape; `same`: the pool states `allocatable` for all of them."""
    named = {"selector": {**found_by, MACHINE: size.machine_type}} if found_by else _listed(size.names)
    shape: dict[str, Any] = {"nodes": named}
    has = _allocatable(group, size.offered)
    if has and not same:
        shape["allocatable"] = has
    number, first = cards_per_node(group, size), cards_per_node(group, group.sizes[0])
    if number and number != first:
        shape["cardsPerNode"] = number
    if size.place:
        shape["labels"] = dict(size.place)
    return shape


def _which(group: Group) -> Any:
    """Names, a number or a range; None: unknown."""
    pool = group.generated
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
    """Names, or their number if a policy does not accept one of the names."""
    if any(dns_subdomain_problem(node) for node in nodes):
        return len(nodes)
    return {"names": names.ranges(nodes)}


def _allocatable(group: Group, offered: Amounts) -> dict[str, str | int]:
    """What pods may use, without what follows from the card or the kubelet's default."""
    implied = {"pods"} if offered.get("pods") == PODS_PER_NODE else set()
    if group.card:
        implied |= {group.card.resource, f"{group.card.resource}.shared"}
        if group.card.sharing.options:
            implied |= {resource for resource in offered if resource.startswith("nvidia.com/mig-")}
    return amounts({resource: number for resource, number in offered.items() if resource not in implied})
