"""How many pods of one size empty nodes take, whole nodes counted one by one."""

from __future__ import annotations

from collections.abc import Iterable

from policykit.model.pool import Amounts, Shape


def pods_on(shape: Shape, request: Amounts) -> int | None:
    """Pods that one node takes; None: its size is not known."""
    counts: list[int] = []
    for resource, asked in request.items():
        if asked <= 0:
            continue
        if resource not in shape.allocatable:
            if "/" in resource:
                return None
            continue  # cpu or memory that nobody stated limits nothing here
        counts.append(shape.allocatable[resource] // asked)
    return min(counts) if counts else None


def pods_in(shapes: Iterable[Shape], request: Amounts) -> int | None:
    """Pods that all nodes of these shapes take; None: there is no limit, or it is not known."""
    total = 0
    for shape in shapes:
        each = pods_on(shape, request)
        if each is None or shape.maximum is None:
            return None
        total += each * shape.maximum
    return total
