"""Placements as a policy states them."""

from __future__ import annotations

from typing import Any

from policykit.importer.said import said
from policykit.model.placement import Placement, ResourcePlacement


def placement(found: Placement) -> dict[str, Any]:
    """A placement; a resource that follows its strategy is written as its weight."""
    return said(
        strategy=found.strategy,
        resources={name: _resource(found, each) for name, each in found.resources.items()},
        shape=[point._asdict() for point in found.shape],
        avoid=found.avoid,
        scheduler=found.scheduler,
    )


def _resource(found: Placement, each: ResourcePlacement) -> int | dict[str, Any]:
    if each.strategy == found.strategy:
        return each.weight
    return said(strategy=each.strategy, weight=each.weight if each.weight != 1 else None)
