"""How many pods of one size fit on empty nodes, counted node by node."""

from __future__ import annotations

from collections.abc import Iterable

from policykit.model.pool import Amounts, Pool, Shape


def pods_on(shape: Shape, request: Amounts) -> int | None:
    """Pods that fit on one node; None if its size is unknown."""
    counts: list[int] = []
    for resource, amount in request.items():
        if amount <= 0:
            continue
        if resource not in shape.allocatable:
            if "/" in resource:
                return None
            continue  # undeclared cpu or memory is not a limit here
        counts.append(shape.allocatable[resource] // amount)
    return min(counts) if counts else None


def pods_in(shapes: Iterable[Shape], request: Amounts) -> int | None:
    """Pods that fit on all nodes of these shapes; None if there is no limit or it is unknown."""
    total = 0
    for shape in shapes:
        each = pods_on(shape, request)
        if each is None or shape.maximum is None:
            return None
        total += each * shape.maximum
    return total


def pods_in_domain(pools: Iterable[Pool], key: str, request: Amounts) -> int | None:
    """Pods that fit on the nodes of the largest domain, which are those with one value of label `key`.

    None if the domain or the size of a node is unknown.
    """
    domains: dict[str, int] = {}
    for pool in pools:
        for shape in pool.shapes:
            value = shape.labels.get(key) or pool.labels.get(key)
            pods = pods_in((shape,), request)
            if value is None or pods is None:
                return None
            domains[value] = domains.get(value, 0) + pods
    return max(domains.values(), default=None)
