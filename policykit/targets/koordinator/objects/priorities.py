"""Koordinator's PriorityClasses, as its chart installs them."""

from __future__ import annotations

from collections.abc import Iterable

from policykit.catalogue.koordinator.bands import BANDS
from policykit.model.queue import Priority


def own(stated: Iterable[str]) -> tuple[Priority, ...]:
    """All of them, without those that a policy states itself."""
    there = frozenset(stated)
    return tuple(
        Priority(band.priority_class, band.lowest, description=band.description)
        for band in BANDS
        if band.priority_class not in there
    )
