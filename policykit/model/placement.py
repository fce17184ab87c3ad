"""How pods are placed on suitable nodes: packed, spread, or kept off scarce cards."""

from collections.abc import Mapping

from policykit.namedtuple import NamedTuple

BINPACK, SPREAD = "binpack", "spread"


class Point(NamedTuple):
    """A node used to `utilization` percent scores `score`; straight lines between points."""

    utilization: int
    """0 to 100."""
    score: int
    """0 to 10."""


class ResourcePlacement(NamedTuple):
    """Strategy and weight of a resource."""

    strategy: str
    """binpack or spread."""
    weight: int = 1
    """1 to 100."""


class Placement(NamedTuple):
    """A placement that workload kinds refer to by name."""

    name: str
    strategy: str
    """binpack or spread: for resources that are not listed."""
    resources: Mapping[str, ResourcePlacement] = {}
    """Resource name to strategy and weight; empty: each target chooses from the cards."""
    shape: tuple[Point, ...] = ()
    """Score by utilization, in ascending order; empty: linear, according to `strategy`."""
    avoid: tuple[str, ...] = ()
    """Scarce resources: pods that do not request them avoid their nodes if possible."""
    scheduler: str = ""
    """schedulerName of the scheduler profile with this placement; empty: not stated."""
