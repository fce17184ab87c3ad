"""Network topology levels, and how close or far apart pods must be."""

from typing import NamedTuple

LEVELS = ("zone", "domain", "rack", "switch", "nvlink")
"""Names of levels, widest first."""


class Level(NamedTuple):
    """A level of the cluster's topology: nodes with the same label value are together."""

    name: str
    """zone, domain, rack, switch or nvlink."""
    key: str
    """Node label key."""


class Closeness(NamedTuple):
    """The pods of one job stay within one value of a level."""

    level: str
    hard: bool = False
    """They wait rather than run apart; else it is a preference."""


class Apartness(NamedTuple):
    """Pods of one workload are spread evenly over the values of a level."""

    level: str
    """A level, or `node`."""
    hard: bool = False
    skew: int = 1
    """Largest difference of pods between two values."""
