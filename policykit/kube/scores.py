"""Scores of kube-scheduler's plugins, 0 to 100, in its own integer arithmetic."""

from __future__ import annotations

from collections.abc import Sequence

MAX_SCORE = 100
Shape = Sequence[tuple[int, int]]
"""Points (utilization 0..100 rising, score 0..10) of RequestedToCapacityRatio."""


def least(requested: int, allocatable: int) -> int:
    """LeastAllocated of one resource: the free part. Source: `least_allocated.go` (v1.36)."""
    if allocatable <= 0 or requested > allocatable:
        return 0
    return (allocatable - requested) * MAX_SCORE // allocatable


def most(requested: int, allocatable: int) -> int:
    """MostAllocated of one resource: the allocated part. Source: `most_allocated.go` (v1.36)."""
    return min(requested, allocatable) * MAX_SCORE // allocatable if allocatable > 0 else 0


def ratio(requested: int, allocatable: int, shape: Shape) -> int:
    """RequestedToCapacityRatio of one resource: the shape at its utilization.

    Source: `requested_to_capacity_ratio.go`, `helper/shape_score.go` (v1.36).
    """
    full = allocatable <= 0 or requested > allocatable
    return _at(shape, 100 if full else requested * 100 // allocatable)


def _at(shape: Shape, utilization: int) -> int:
    for position, (x, score) in enumerate(shape):
        if utilization <= x:
            if position == 0:
                return score * 10
            before, low = shape[position - 1]
            climbed = (score - low) * 10 * (utilization - before)
            return low * 10 + _divided(climbed, x - before)
    return shape[-1][1] * 10 if shape else 0


def _divided(number: int, by: int) -> int:
    """Division as in Go, truncated toward zero. `by` is positive."""
    return number // by if number >= 0 else -(-number // by)
