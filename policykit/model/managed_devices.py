"""Which nodes an operator's object is for."""

from __future__ import annotations

from collections.abc import Mapping

from policykit.namedtuple import NamedTuple


class ManagedDevices(NamedTuple):
    """An object by which an operator manages the devices of nodes.

    Locations of its fact: `selector`.
    """

    field: str
    """Name of its selector; empty: it is for the whole cluster."""
    selector: Mapping[str, str] = {}
    """Labels of its nodes; empty: all nodes with such devices."""
    rest: bool = False
    """It is only for nodes that no other object selects."""


class InstalledPlugin(NamedTuple):
    """A chart or object that installs a device plugin for all cards of NVIDIA.

    Locations of its fact: `switch`.
    """

    installer: str
    """The chart, or the kind of the object."""
    switch: str
    """The value or field that leaves the plugin out, if set to false."""
