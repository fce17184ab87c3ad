"""Koordinator's priority bands: pods belong to one by their priority, and each has a PriorityClass."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Band(NamedTuple):
    """A class of pods, by the value of their priority."""

    name: str
    """prod, mid, batch or free."""
    lowest: int
    highest: int
    description: str

    @property
    def priority_class(self) -> str:
        """The PriorityClass that Koordinator's chart installs for it, of the lowest value."""
        return f"koord-{self.name}"


BANDS = (
    Band("prod", 9000, 9999, "Services with their resources guaranteed."),
    Band("mid", 7000, 7999, "Work on resources that prod has requested and is not going to use for long."),
    Band("batch", 5000, 5999, "Work on resources that prod has requested and does not use now."),
    Band("free", 3000, 3999, "Work that runs on spare resources and is evicted first."),
)
QOS: Mapping[str, tuple[str, ...]] = {
    "prod": ("LS", "LSR", "LSE"),
    "mid": ("LS", "BE"),
    "batch": ("BE",),
    "free": ("BE",),
}
"""Class to its valid QoS classes, the usual one first.

Source: koordinator `pkg/webhook/pod/validating/` (1.8), and the recommendations of its documentation.
"""


def band_of(value: int) -> Band | None:
    """The class of a pod of this priority; None: it has none.

    Source: koordinator `apis/extension/priority.go` (1.8).
    """
    return next((band for band in BANDS if band.lowest <= value <= band.highest), None)


def named(priority_class: str) -> Band | None:
    """The class that one of Koordinator's own PriorityClasses is for."""
    return next((band for band in BANDS if band.priority_class == priority_class), None)
