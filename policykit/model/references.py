"""Objects that workloads name, and pods that others select, with where they do so."""

from collections.abc import Mapping

from policykit.namedtuple import NamedTuple


class NamedObject(NamedTuple):
    """An object of a kind that workloads name."""

    kind: str
    name: str


class ObjectReference(NamedTuple):
    """A name of another object. Locations of its fact: `name`."""

    kinds: tuple[str, ...]
    """Those that may have the name."""
    name: str


class PodSelector(NamedTuple):
    """What selects pods of others by labels. Locations of its fact: each key, and `selector`."""

    labels: Mapping[str, str]
    fault: str = ""
    """What follows if there are none, after a colon; for display."""
    budget: str = ""
    """Name of the disruption budget; empty: it is an affinity."""
    namespace: str = ""
    """Of the budget; empty: not stated."""
