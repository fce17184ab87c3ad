"""How pods are laid out on the nodes that fit: packed, spread, or kept off scarce cards."""

from collections.abc import Mapping
from typing import NamedTuple

BINPACK, SPREAD = "binpack", "spread"


class Point(NamedTuple):
    """A node used to `utilization` percent scores `score`; straight lines between points."""

    utilization: int
    """0 to 100."""
    score: int
    """0 to 10."""


class ResourcePlacement(NamedTuple):
    """What one resource counts for."""

    strategy: str
    """binpack or spread."""
    weight: int = 1
    """1 to 100."""


class Placement(NamedTuple):
    """A way of placing that workload kinds name."""

    name: str
    strategy: str
    """binpack or spread: for resources that are not listed."""
    resources: Mapping[str, ResourcePlacement] = {}
    """Resource name to what it counts for; empty: each target chooses from the cards."""
    shape: tuple[Point, ...] = ()
    """Score by use, in growing utilization; empty: a straight line as `strategy` says."""
    avoid: tuple[str, ...] = ()
    """Scarce resources: pods that do not request them stay off their nodes where they can."""
    scheduler: str = ""
    """schedulerName of the kube-scheduler profile that places so; empty: none is stated."""
